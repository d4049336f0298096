"""The commands. Every one has `--json`; bad input ends with exit code 2 and one line."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from costmodel.asked import read
from costmodel.cli import frontier, levers, serving, sweep, validate
from costmodel.cli.numbers import number
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show
from costmodel.errors import InputError
from costmodel.scenario import BY_NAME

BAD_INPUT = 2
OWN_OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in ("memory_fraction", "max_batched_tokens", "max_seqs", "max_model_len")
}
"""Options of one command that aren't fields of the scenario, by the name an error uses."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What a token costs: decode points, edges of the cost curve, memory, presets.",
)


def main(args: list[str] | None = None) -> None:
    """Run a command; tell bad input in one line and exit with 2."""
    try:
        code = app(args=args, standalone_mode=False)
    except InputError as error:
        _refuse(_with_option(error))
    except TyperException as error:
        _refuse(" ".join(error.format_message().split()))
    except BrokenPipeError:
        # The reader (head, less) has gone; nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _with_option(error: InputError) -> str:
    """Return the sentence of an error, naming the option where it names only the field."""
    field = BY_NAME.get(error.field)
    option = field.option if field else OWN_OPTIONS.get(error.field)
    if option is None or option in error.sentence:
        return error.sentence
    if error.sentence.startswith(f"{error.field} "):
        return option + error.sentence[len(error.field) :]
    return f"{option}: {error.sentence}"


def _refuse(sentence: str) -> None:
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(BAD_INPUT)


@app.command()
def models(as_json: Json = False) -> None:
    """List the preset models with sources."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415

    found = records.models()
    show(
        {"models": found},
        as_json,
        lambda: table.table(
            [
                [r["short"], f"{r['total_params'] / 1e9:.2f}", f"{r['active_params'] / 1e9:.2f}",
                 f"{r['context_limit'] or 0:,}", r["published_dtype"], r["id"]]
                for r in found
            ],
            head=["model", "B params", "B active", "context", "stored", "id"],
        ),
    )  # fmt: skip


@app.command()
def hardware(as_json: Json = False) -> None:
    """List the preset accelerators with sources and dates."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415

    found = records.hardware()

    def row(r: dict[str, Any]) -> list[str]:
        facts = r["facts"]

        def of(name: str, unit: float) -> str:
            return f"{facts[name]['value'] / unit:,.4g}" if name in facts else "–"

        return [
            r["id"], of("capacity_bytes", 2**30), of("bandwidth_bytes_per_s", 1e9),
            of("flops_per_s_bf16", 1e12), of("flops_per_s_fp8", 1e12), of("flops_per_s_fp4", 1e12),
            str(r["domain"]), r["short"],
        ]  # fmt: skip

    head = ["id", "GiB", "GB/s", "bf16 TF", "fp8 TF", "fp4 TF", "linked", "name"]
    show({"hardware": found}, as_json, lambda: table.table([row(r) for r in found], head=head))


@app.command()
def prices(as_json: Json = False) -> None:
    """List what an accelerator-hour costs on each basis, with the rows behind it."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415
    from costmodel.prices import BASES  # noqa: PLC0415

    found = records.prices()

    def cell(price: dict[str, Any]) -> str:
        if price["usd_per_gpu_hour"] is None:
            return "–"
        return f"{price['usd_per_gpu_hour']:.2f}" + (" old" if price["old"] else "")

    priced = [r for r in found if any(r[b]["usd_per_gpu_hour"] is not None for b in BASES)]
    show(
        {"prices": found, "unit": "USD per accelerator-hour"},
        as_json,
        lambda: table.table(
            [[r["hardware"], *(cell(r[b]) for b in BASES)] for r in priced],
            head=["USD per accelerator-hour", *BASES],
        ),
    )


@app.command()
@scenario_options
def model(given: dict[str, str], as_json: Json = False) -> None:
    """Weigh a model: parameters, weights read per step, cache per token and sequence."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415
    from costmodel.explore import model_card  # noqa: PLC0415

    chosen, _ = read(given)
    batch = chosen.batch if "batch" in given else 1.0
    record = records.model_card(model_card(chosen, batch=batch))
    show(record, as_json, lambda: table.pairs({k: v for k, v in record.items() if k != "layers"}))


@app.command()
@scenario_options
def memory(
    given: dict[str, str],
    memory_fraction: Annotated[
        str | None, typer.Option(help="Share of the card that the engine takes. Default 0.9.")
    ] = None,
    max_batched_tokens: Annotated[
        str | None, typer.Option(help="Most tokens of one step. Default 8192.")
    ] = None,
    max_seqs: Annotated[
        str | None, typer.Option(help="Most sequences of one step. Default 256.")
    ] = None,
    max_model_len: Annotated[
        str | None, typer.Option(help="Longest request, tokens. Default: the model's limit.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show memory per GPU as an engine prints it at start-up."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415
    from costmodel.explore import memory_report  # noqa: PLC0415

    chosen, _ = read(given)
    engine: dict[str, Any] = {}
    for name, option, text in (
        ("memory_fraction", "--memory-fraction", memory_fraction),
        ("max_batched_tokens", "--max-batched-tokens", max_batched_tokens),
        ("max_sequences", "--max-seqs", max_seqs),
        ("max_model_len", "--max-model-len", max_model_len),
    ):
        if text is not None:
            engine[name] = number(text, option=option, whole=name != "memory_fraction")
    record = records.memory(memory_report(chosen, **engine))
    show(record, as_json, lambda: table.pairs(record))


@app.command()
@scenario_options
def point(given: dict[str, str], as_json: Json = False) -> None:
    """Compute decode points: time, cost, what bounds them, whether they fit."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415
    from costmodel.explore import point as points_of  # noqa: PLC0415

    chosen, axes = read(given, lists=("batch", "context_tokens", "hardware"))
    found = list(records.points(points_of(chosen, **axes)))
    show({"points": found} if len(found) > 1 else found[0], as_json, lambda: table.points(found))


@app.command()
@scenario_options
def knee(given: dict[str, str], as_json: Json = False) -> None:
    """Find the edges of the cost curve, the recommended batch, the floor and the best here."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.case import resolve  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415
    from costmodel.explore import knee_of  # noqa: PLC0415

    chosen, _ = read(given)
    case = resolve(chosen)
    record = records.knee(
        knee_of(case), price_reason=case.price_reasons[0], notes=case.notes
    )
    show(record, as_json, lambda: table.pairs(record))


for command in (serving, frontier, sweep, validate, levers):
    command.register(app)
