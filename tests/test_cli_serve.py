"""The command `serve`: keys, lists, and one number whichever way it is asked for."""

import json

import pytest

from costmodel import serve
from costmodel.cli.app import main
from costmodel.scenario import scenario

KEYS = {
    "batch", "fits", "ttft_s", "tpot_s", "output_tokens_per_s", "usd_per_mtok_input", "usd_per_mtok_output",
    "usd_per_mtok", "usd_per_request", "low", "high",
}  # fmt: skip


def run(capsys, *args):
    with pytest.raises(SystemExit) as stopped:
        main(list(args))
    shown = capsys.readouterr()
    return stopped.value.code, shown.out, shown.err


def test_one_point_is_one_object(capsys):
    code, out, _ = run(capsys, "serve", "--weights", "fp8", "--json")
    record = json.loads(out)

    assert code == 0
    assert record.keys() >= KEYS
    found = serve.serve(scenario(weights="fp8"))
    assert record["usd_per_mtok"] == pytest.approx(float(found.usd_per_mtok))
    assert record["ttft_s"] == pytest.approx(float(found.ttft_s))


def test_parts_add_up_to_the_whole(capsys):
    _, out, _ = run(capsys, "serve", "--weights", "fp8", "--input", "1500", "--output", "1000", "--json")
    r = json.loads(out)

    assert r["usd_per_mtok"] == pytest.approx(r["usd_per_mtok_output"] + 1.5 * r["usd_per_mtok_input"])
    assert r["usd_per_request"] == pytest.approx(r["usd_per_mtok"] * 1000 / 1e6)


def test_lists_make_points_with_hardware_slowest(capsys):
    asked = ("--batch", "1,64", "--hardware", "h100-sxm,b200", "--weights", "fp8")
    _, out, _ = run(capsys, "serve", *asked, "--json")
    points = json.loads(out)["points"]

    assert [(p["hardware"], p["batch"]) for p in points] == [
        ("h100-sxm", 1), ("h100-sxm", 64), ("b200-sxm", 1), ("b200-sxm", 64),
    ]  # fmt: skip


def test_several_accelerators_at_once_equal_one_by_one():
    from costmodel.case import resolve

    asked = scenario(weights="fp8", tp=2)
    together = serve.at_batch(resolve(asked, ["h100-sxm", "l40s"]), batch=[1.0, 32.0])

    assert together.usd_per_mtok.shape == (2, 1, 2)
    for i, name in enumerate(("h100-sxm", "l40s")):
        alone = serve.at_batch(resolve(asked.but(hardware=name)), batch=[1.0, 32.0])
        assert together.usd_per_mtok[i, 0] == pytest.approx(alone.usd_per_mtok, nan_ok=True)
        assert together.ttft_s[i, 0] == pytest.approx(alone.ttft_s)


def test_concurrency_decides_the_batch(capsys):
    _, out, _ = run(capsys, "serve", "--concurrency", "64", "--weights", "fp8", "--json")

    assert json.loads(out)["batch"] < 64


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--batch", "1", "--concurrency", "2"), "leave one out"),
        (("--concurrency", "0"), "concurrency must be"),
        (("--hardware", "h20000"), "hardware must be a known preset"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, args, words):
    code, out, err = run(capsys, "serve", *args)

    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
