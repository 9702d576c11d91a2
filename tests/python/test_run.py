"""Programs of the catalogue and experiments, run from Python."""

import json
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

COMMAND = Path(sys.executable).with_name("maquette")


def command(*arguments: str) -> dict[str, Any]:
    """What the command prints with `--json`, except for the values that it computes in addition to the run."""
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=300, check=True)
    printed: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in printed.items() if name not in ("lower_bound_ps", "messaging")}


@pytest.mark.parametrize("machine", ["infiniband-128", "loggp", "dp-smp-8"])
def test_a_run_is_what_the_command_prints(machine: str) -> None:
    run = mq.run("broadcast", machine, ranks=8, algorithm="binomial", bytes="4 KiB", seed=1)
    options = ["--nodes", "8", "--algorithm", "binomial", "--bytes", "4KiB", "--seed", "1"]
    printed = command("run", "broadcast", "--machine", machine, *options)
    assert run.to_dict() == printed
    assert (run.makespan_ps, run.finish_ps) == (printed["makespan_ps"], printed["finish_ps"])
    assert (run.program, run.machine, run.message_count) == ("broadcast", machine, printed["messages"])
    assert run.makespan_ps == max(run.finish_ps) > 0 and run.makespan == run.makespan_ps / 1e12


def test_the_results_of_a_program_are_available() -> None:
    run = mq.run("ping-pong", "moc-2-1", bytes=64, rounds=3)
    assert len(run.found["round_trips_ps"]) == 3
    assert run.returned == []
    assert repr(run).startswith("<maquette.Run ping-pong on 16 nodes of moc-2-1: ")


def test_ranks_run_where_the_placement_says() -> None:
    machine = mq.Machine("infiniband-128")
    listed = mq.run("broadcast", machine, ranks=4, placement=[9, 3, 77, 1])
    assert listed.nodes == [9, 3, 77, 1]
    assert (listed.program, len(listed.finish_ps)) == ("broadcast", 4)
    random = mq.run("broadcast", machine, ranks=64, placement="random", seed=3)
    assert random.nodes == mq.run("broadcast", machine, ranks=64, placement="random", seed=3).nodes
    assert random.nodes != list(range(64)) and len(set(random.nodes)) == 64


EXPERIMENT = """
alone = true

[machine]
name = "infiniband-128"
set = ["channels.buffers=128"]

[[job]]
name = "training"
ranks = 16
placement = "scattered-switches"
program.all-reduce = { algorithm = "ring", bytes = "16 KiB" }

[[job]]
name = "transpose"
ranks = 8
start = "5 us"
program.all-to-all = { algorithm = "pairwise", bytes = "1 KiB" }
"""


def test_an_experiment_runs_from_its_file_and_from_its_fields(tmp_path: Path) -> None:
    (tmp_path / "two-jobs.toml").write_text(EXPERIMENT)
    from_file = mq.run_experiment(tmp_path / "two-jobs.toml")
    printed = command("run", str(tmp_path / "two-jobs.toml"))
    assert from_file.to_dict() == printed
    assert [job["name"] for job in printed["jobs"]] == ["training", "transpose"]
    assert len(from_file.nodes) == 24
    assert mq.run_experiment(tomllib.loads(EXPERIMENT)).to_dict() == printed


@pytest.mark.parametrize(
    ("error", "program", "parameters", "expected"),
    [
        (TypeError, "broadcast", {"algoritm": "linear"}, "broadcast has no parameter `algoritm`; it has "),
        (TypeError, "broadcast", {"algoritm": "linear"}, "did you mean `algorithm`?"),
        (ValueError, "broadcast", {"algorithm": "binomail"}, "algorithm: "),
        (ValueError, "broadcast", {"algorithm": "binomail"}, "did you mean `binomial`?"),
        (ValueError, "broadcast", {"bytes": "4 kib"}, "bytes: "),
        (ValueError, "brodcast", {}, "did you mean `broadcast`?"),
        (ValueError, "broadcast", {"ranks": 129}, "ranks: found 129; allowed is 1 to 128, the nodes of infiniband-128"),
        (ValueError, "broadcast", {"ranks": -1}, "ranks: found -1; allowed is "),
        (TypeError, "broadcast", {"ranks": "8"}, "ranks: found '8'; allowed is "),
        (ValueError, "broadcast", {"placement": "randum"}, "did you mean `random`?"),
        (ValueError, "broadcast", {"engine": "fats"}, "did you mean `fast`?"),
    ],
)
def test_wrong_parameters_are_reported(error: type[Exception], program: str, parameters: dict[str, Any], expected: str) -> None:
    with pytest.raises(error) as caught:
        mq.run(program, "infiniband-128", **parameters)
    assert expected in str(caught.value)


def test_errors_in_an_experiment_are_reported() -> None:
    with pytest.raises(ValueError, match="did you mean `machine`"):
        mq.run_experiment({"machin": {"name": "moc-2-1"}, "job": []})
    with pytest.raises(OSError, match="no-such-file.toml"):
        mq.run_experiment("no-such-file.toml")


def test_ctrl_c_ends_a_run() -> None:
    def interrupt() -> None:
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            mq.run("equal-dist", "moc-3-2", messages=4_000_000_000)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert mq.run("ping-pong", "moc-2-1").message_count == 2
