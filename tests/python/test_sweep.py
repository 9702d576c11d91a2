"""Sweeps: the table is the same, whichever worker computes a point."""

import concurrent.futures
import json
import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

pl = pytest.importorskip("polars")

EXPERIMENT: dict[str, Any] = {
    "machine": {"name": "moc-2-1"},
    "job": [{"ranks": 8, "program": {"broadcast": {"algorithm": "binomial", "bytes": 64}}}],
}
OVER: dict[str, list[Any]] = {
    "machine": ["moc-2-1", "infiniband-128"],
    "algorithm": ["binomial", "linear"],
    "bytes": [64, "4 KiB"],
    "ranks": [4, 16, 64],
}


def test_every_point_equals_a_run_of_it() -> None:
    table = pl.DataFrame(mq.sweep(EXPERIMENT, OVER))
    assert table.columns == [*OVER, "makespan_ps", "messages", "packets", "mean_blocking_ps", "error"]
    assert len(table) == 2 * 2 * 2 * 3
    assert table["ranks"].to_list() == [4, 16, 64] * 8 and table.schema["ranks"] == pl.Int64
    for row in table.iter_rows(named=True):
        if row["machine"] == "moc-2-1" and row["ranks"] == 64:
            assert row["makespan_ps"] is None
            assert row["error"] == "nodes: found 64; allowed is 1 to 16, the nodes of moc-2-1"
            continue
        size = int(row["bytes"]) if row["bytes"].isdigit() else row["bytes"]
        run = mq.run("broadcast", row["machine"], ranks=row["ranks"], algorithm=row["algorithm"], bytes=size)
        assert (row["makespan_ps"], row["messages"], row["error"]) == (run.makespan_ps, run.message_count, None)


def test_seeds_placements_and_fields_of_the_machine() -> None:
    over = {"seed": range(3), "placement": ["random", "in-order"], "channels.buffers": [128, 256]}
    table = pl.DataFrame(mq.sweep({**EXPERIMENT, "machine": {"name": "infiniband-128"}}, over))
    assert len(table) == 12 and table["error"].null_count() == 12
    by_placement = table.group_by("placement", "channels.buffers").agg(pl.col("makespan_ps").n_unique())
    different = {(row[0], row[1]): row[2] for row in by_placement.iter_rows()}
    assert different["in-order", 256] == 1 and different["random", 256] > 1


@pytest.fixture
def processes() -> Iterable[concurrent.futures.Executor]:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        yield executor


def test_the_table_is_the_same_whatever_the_executor(processes: concurrent.futures.Executor) -> None:
    local = pl.DataFrame(mq.sweep(EXPERIMENT, OVER))
    assert pl.DataFrame(mq.sweep(EXPERIMENT, OVER, executor=processes)).equals(local)
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        assert pl.DataFrame(mq.sweep(EXPERIMENT, OVER, executor=threads)).equals(local)


def test_finished_points_of_another_sweep_are_refused(tmp_path: Path) -> None:
    mq.Sweep(EXPERIMENT, {"seed": [1, 2]}, out=tmp_path / "out.csv")
    with pytest.raises(ValueError, match="found the finished points of another sweep"):
        mq.Sweep(EXPERIMENT, {"seed": [1, 3]}, out=tmp_path / "out.csv")


def test_a_sweep_whose_file_another_one_has_written_ends_before_it_runs_anything(tmp_path: Path) -> None:
    first, second = (mq.Sweep(EXPERIMENT, {"seed": [1, 2]}, out=tmp_path / "out.csv") for _ in range(2))
    second.run_points()
    with pytest.raises(OSError, match="another sweep has written to its journal"):
        first.run()
    assert (first.done, second.done) == (0, 2)


def test_ctrl_c_keeps_finished_points() -> None:
    experiment = {**EXPERIMENT, "job": [{"program": {"equal-dist": {"messages": 20_000}}}]}
    sweep = mq.Sweep(experiment, {"seed": range(1000)})

    def interrupt() -> None:
        while sweep.done < 3:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            sweep.run()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert 3 <= sweep.done < 1000
    assert len(sweep.table) == sweep.done and repr(sweep) == f"<maquette.Sweep: {sweep.done} of 1000 points done>"
    assert pl.DataFrame(sweep)["error"].null_count() == sweep.done


@pytest.mark.parametrize("ending", ["arrow", "csv", "parquet"])
def test_a_table_is_written(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    sweep = mq.sweep(EXPERIMENT, {"ranks": [2, 64], "bytes": [64]}, out=path)
    read = {"arrow": pl.read_ipc, "csv": pl.read_csv, "parquet": pl.read_parquet}[ending](path)
    assert read.rows() == pl.DataFrame(sweep).rows()
    assert list(tmp_path.iterdir()) == [path]


def test_an_experiment_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "experiment.toml").write_text(
        textwrap.dedent("""
        [machine]
        name = "moc-2-1"
        [[job]]
        program.broadcast = { algorithm = "binomial" }
        """)
    )
    over = {"bytes": [1, 2, 3]}
    (tmp_path / "experiment.json").write_text(json.dumps({**EXPERIMENT, "job": [{"program": {"broadcast": {"algorithm": "binomial"}}}]}))
    from_toml, from_json = (mq.sweep(tmp_path / f"experiment.{ending}", over) for ending in ["toml", "json"])
    assert pl.DataFrame(from_toml).equals(pl.DataFrame(from_json))


@pytest.mark.parametrize(
    ("error", "over", "expected"),
    [
        (TypeError, {"byte": [1]}, "broadcast has no parameter `byte`; it has machine, seed, "),
        (TypeError, {"byte": [1]}, "did you mean `bytes`?"),
        (ValueError, {"algorithm": ["binomail"]}, "did you mean `binomial`?"),
        (ValueError, {"seed": [-1]}, "seed: "),
        (ValueError, {"seed": []}, "seed: found no values"),
        (TypeError, {"machine": "moc-2-1"}, "over: found 'moc-2-1' for machine; allowed are several values"),
        (ValueError, {"seed": range(100_000), "ranks": range(1, 1000)}, "over: found 100000 x 999 points; allowed is 10000000 points at most"),
    ],
)
def test_wrong_values_are_reported(error: type[Exception], over: dict[str, Any], expected: str) -> None:
    with pytest.raises(error) as caught:
        mq.sweep(EXPERIMENT, over)
    assert expected in str(caught.value)
    with pytest.raises(ValueError, match=r"allowed is a name that ends in .arrow, .csv or .parquet"):
        mq.sweep(EXPERIMENT, {"seed": [1]}, out="out.txt")


def test_a_sweep_does_not_import_polars_and_pyarrow_needlessly() -> None:
    statement = "import maquette, sys; maquette.sweep; print('polars' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


COMMAND = Path(sys.executable).with_name("maquette")

FILE = """
[machine]
name = "moc-2-1"
[[job]]
ranks = 8
program.broadcast = { algorithm = "binomial" }
"""


def command(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "experiment.toml").write_text(FILE)
    arguments: list[str | Path] = [COMMAND, "sweep", "experiment.toml", *options]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("ending", ["arrow", "csv", "parquet"])
def test_the_command_writes_the_same_table(ending: str, tmp_path: Path) -> None:
    options = ["--over", "bytes=8..1KiB", "--over", "machine=moc-2-1,infiniband-128", "--seeds", "2", "--out", f"out.{ending}"]
    done = command(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    read = {"arrow": pl.read_ipc, "csv": pl.read_csv, "parquet": pl.read_parquet}[ending](tmp_path / f"out.{ending}")
    over = {"bytes": [2**power for power in range(3, 11)], "machine": ["moc-2-1", "infiniband-128"], "seed": [1, 2]}
    assert read.rows() == pl.DataFrame(mq.sweep(tmp_path / "experiment.toml", over)).rows()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["experiment.toml", f"out.{ending}"]


def test_the_command_resumes_after_it_was_interrupted(tmp_path: Path) -> None:
    (tmp_path / "experiment.toml").write_text(FILE.replace("broadcast", "equal-dist").replace('algorithm = "binomial"', "messages = 10000").replace("ranks = 8", ""))
    command: list[str | Path] = [COMMAND, "sweep", "experiment.toml", "--seeds", "60", "--out", "out.csv"]
    # It reacts to Ctrl-C even where this process inherited the signal as ignored.
    interruptible = ["env", "--default-signal=INT", *command]
    running = subprocess.Popen(interruptible, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    kept = tmp_path / "out.csv.done.jsonl"
    deadline = time.monotonic() + 60
    while not (kept.exists() and kept.read_text().count("\n") > 3):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, error = running.communicate(timeout=60)
    assert running.returncode == 130 and "of 60 points are done, and kept: the same command resumes" in error
    done = kept.read_text().count("\n") - 1
    assert 3 <= done < 60 and not (tmp_path / "out.csv").exists()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert "60 points are in out.csv; 0 of them have failed." in again.stdout
    assert len(pl.read_csv(tmp_path / "out.csv")) == 60 and not kept.exists()


def test_the_command_reports_wrong_options(tmp_path: Path) -> None:
    cases = [
        (["--over", "bytes"], "allowed is FIELD=VALUES"),
        (["--over", "byte=1"], "did you mean `bytes`?"),
        (["--seeds", "2", "--out", "out.txt"], "allowed is a name that ends in .arrow or .csv"),
        ([], "--over: found nothing"),
        (["--over", "seed=1", "--seeds", "2"], "seed: found twice"),
    ]
    for options, expected in cases:
        done = command(tmp_path, *options)
        assert (done.returncode, expected in done.stderr) == (2, True), (options, done.stderr)
