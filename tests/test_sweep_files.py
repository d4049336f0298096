"""Large sweeps: whole files or none, resumed where they stopped, the same on a cluster."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from costmodel import chunks, sweep, sweep_files
from costmodel.cli.app import main
from costmodel.errors import InputError
from costmodel.scenario import scenario

ASKED = scenario(model="llama-3.1-8b")
PARTS = pytest.mark.filterwarnings("ignore")


def plan(**changes):
    where = sweep.space(
        ASKED, hardware=["h100-sxm", "l40s", "rtx-4090"], gpus=[1, 2], kv=["bf16"], batches=[1, 8, 64, 4096]
    )
    whole = chunks.plan_of(ASKED, where, {"input_tokens": np.array([500.0, 3000.0])}, chunk_points=24)
    return replace(whole, **changes)


@pytest.fixture
def written(tmp_path):
    return sweep_files.write(plan(), tmp_path / "a")


def rows(folder):
    return pq.ParquetDataset(folder).read().to_pylist()


def test_every_point_is_written_once(written):
    found = rows(written.folder)

    assert written.points == len(found) == plan().points
    assert sum(written.counts.values()) == len(found)
    assert written.counts["feasible"] == sum(r["reason"] == "feasible" for r in found)
    keys = {(r["hardware"], r["tp"], r["weights"], r["batch"], r["input_tokens"]) for r in found}
    assert len(keys) == len(found)


def test_rows_hold_what_serve_says(written):
    from costmodel import serve

    for r in rows(written.folder):
        if r["reason"] != "feasible":
            assert r["usd_per_mtok"] is None
            continue
        asked = ASKED.but(
            hardware=r["hardware"], tp=r["tp"], weights=r["weights"], kv=r["kv"], input_tokens=r["input_tokens"]
        )
        served = serve.serve(asked, batch=r["batch"])
        assert r["usd_per_mtok"] == pytest.approx(float(served.usd_per_mtok))
        assert r["ttft_s"] == pytest.approx(float(served.ttft_s))
        assert r["context_tokens"] == asked.context


def test_chunks_are_bounded():
    parts = list(plan())

    assert len(parts) == plan().chunks
    assert all(c.space.points <= 24 for c in parts)
    assert [c.index for c in parts] == list(range(len(parts)))
    narrow = list(plan(chunk_points=3))
    assert len(narrow) == plan(chunk_points=3).chunks
    assert sum(c.space.points for c in narrow) == plan().points


def interrupting(after):
    def computing(parts):
        for done, part in enumerate(parts):
            if done == after:
                raise KeyboardInterrupt
            yield part, chunks.computed(part)

    return computing


def test_an_interrupted_sweep_goes_on(tmp_path, written):
    folder = tmp_path / "b"
    with pytest.raises(KeyboardInterrupt):
        sweep_files.write(plan(), folder, computing=interrupting(2))
    kept = {p.name: p.read_bytes() for p in folder.glob("*.parquet")}
    again = sweep_files.write(plan(), folder)

    assert len(kept) == 2
    assert again.computed == plan().chunks - 2
    assert again.counts == written.counts
    for part in plan():
        assert (folder / part.name).read_bytes() == (written.folder / part.name).read_bytes()


def test_a_broken_file_is_written_anew(written):
    broken = written.folder / "part-000001.parquet"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:100])

    assert sweep_files.write(plan(), written.folder).computed == 1
    assert broken.read_bytes() == whole


def test_another_sweep_in_the_folder_is_refused(written):
    other = plan(scenario=ASKED.but(busy=0.5))

    with pytest.raises(InputError, match="got another's"):
        sweep_files.write(other, written.folder)


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "mine.parquet").write_bytes(b"x")

    with pytest.raises(InputError, match="must be an empty folder"):
        sweep_files.write(plan(), tmp_path)


def test_a_file_for_a_folder_is_refused(tmp_path):
    (tmp_path / "x").write_text("")

    with pytest.raises(InputError, match="--out must be a folder that can be written"):
        sweep_files.write(plan(), tmp_path / "x")


def test_ten_to_the_twelve_points_are_refused():
    where = sweep.space(ASKED)

    with pytest.raises(InputError, match="at most 10,000,000,000 points, got"):
        chunks.plan_of(ASKED, where, {"input_tokens": np.arange(1.0, 2000), "output_tokens": np.arange(1.0, 2000)})


def run(capsys, *args):
    with pytest.raises(SystemExit) as stopped:
        main(["sweep", *args])
    shown = capsys.readouterr()
    return stopped.value.code, shown.out, shown.err


def test_command(capsys, tmp_path):
    few = ("--model", "llama-3.1-8b", "--hardware", "h100-sxm,l4", "--batch", "1,8", "--input", "100,900")
    code, out, err = run(capsys, *few, "--out", str(tmp_path / "s"), "--json")
    record = json.loads(out)

    assert code == 0
    assert record["points"] == len(rows(tmp_path / "s"))
    assert "1 of" in err or "2 of" in err
    again = json.loads(run(capsys, *few, "--out", str(tmp_path / "s"), "--json")[1])
    assert again["computed"] == 0
    assert again["feasible"] == record["feasible"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "--out must be a folder"),
        (("--out", "x", "--input", "1:40000:300", "--output", "1:40000:300"), "at most 10,000,000,000 points"),
        (("--out", "x", "--hardware", "nope"), "hardware must be a known preset"),
        (("--out", "x", "--batch", "0"), "batch must be"),
    ],
)
def test_bad_questions_are_one_line_and_code_2(capsys, args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *args)

    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1]
    assert not (tmp_path / "x").exists()


# On a cluster -----------------------------------------------------------------------------------

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def local():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:  # fmt: skip
        yield found


@PARTS
def test_two_worker_processes_write_the_same_bytes(local, tmp_path, written):
    from costmodel import cluster

    there = sweep_files.write(plan(), tmp_path / "c", computing=cluster.on(local.scheduler_address))

    assert there.counts == written.counts
    assert there.computed == plan().chunks
    for part in plan():
        assert (there.folder / part.name).read_bytes() == (written.folder / part.name).read_bytes()


@PARTS
def test_a_scheduler_that_dies_leaves_what_is_finished(tmp_path):
    from costmodel import cluster

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as dying:  # fmt: skip

        def progress(done, of):
            if done == 1:
                dying.close()

        with pytest.raises(InputError, match="they are kept: run the same command again"):
            sweep_files.write(
                plan(chunk_points=3), tmp_path, computing=cluster.on(dying.scheduler_address), progress=progress
            )
    kept = len(list(tmp_path.glob("*.parquet")))
    assert 1 <= kept < plan(chunk_points=3).chunks
    assert sweep_files.write(plan(chunk_points=3), tmp_path).computed == plan(chunk_points=3).chunks - kept


@PARTS
def test_no_scheduler_there(capsys, tmp_path, monkeypatch):
    from costmodel import cluster

    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    code, _, err = run(capsys, "--out", str(tmp_path), "--scheduler", "tcp://127.0.0.1:1")

    assert code == 2
    assert "--scheduler must be the address of a running dask scheduler" in err.splitlines()[-1]


def test_without_the_extra(capsys, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run(capsys, "--out", str(tmp_path), "--scheduler", "tcp://127.0.0.1:1")

    assert code == 2
    assert "pip install distributed" in err
