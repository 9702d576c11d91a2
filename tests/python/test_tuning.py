"""Plans, schedules, calibrations, loads, the postal model and studies from Python: the same results as those of the commands."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

COMMAND = Path(sys.executable).with_name("maquette")


def command(*arguments: str | Path) -> dict[str, Any]:
    done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


RING = [[1000 * (column == (row + 1) % 8) for column in range(8)] for row in range(8)]


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """The matrix `RING` in a file."""
    path = tmp_path / "ring.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in RING))
    return path


def test_a_plan_is_what_the_command_prints() -> None:
    plan = mq.plan("broadcast", "delta", ranks=16, bytes="512 B", budget=1)
    assert plan.to_dict() == command(
        "plan", "broadcast", "--machine", "delta", "--ranks", "16", "--bytes", "512", "--budget", "1"
    )
    times = [each.time_ps for each in plan.predictions if each.source == "simulated"]
    assert plan.quickest.time_ps == min(times) >= plan.lower_bound_ps > 0
    assert (plan.question, plan.machine, plan.ranks, plan.bytes) == ("broadcast", "delta", 16, 512)
    assert plan.quickest.algorithm in repr(plan)


def test_a_plan_in_the_postal_model_and_for_a_matrix(ring: Path) -> None:
    plan = mq.plan("all-reduce", lambda_=1.5, ranks=20)
    assert plan.to_dict() == command("plan", "all-reduce", "--lambda", "1.5", "--ranks", "20")
    assert plan.lambda_ == 1.5
    by_file = mq.plan("all-to-all", "cm5-32", traffic=ring)
    assert by_file.to_dict() == command("plan", "all-to-all", "--machine", "cm5-32", "--traffic", ring)
    by_rows = mq.plan("all-to-all", "cm5-32", traffic=RING)
    assert by_rows.predictions == by_file.predictions


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("brodcast", "delta"), "did you mean `broadcast`?"),
        (("all-to-all", "loggp"), "ranks: found nothing; allowed is 1 to 1048576, the nodes of loggp"),
        (("broadcast", "delta", {"traffic": RING}), "traffic: found a matrix for broadcast; allowed is one for all-to-all"),
        (("all-to-all", "cm5-32", {"traffic": [[0, 1], [2]]}), "the matrix:2"),
        (("all-to-all", "cm5-32", {"traffic": [[0, -1], [2, 0]]}), "the matrix:1"),
        (("all-to-all", "cm5-32", {"traffic": RING, "bytes": 8}), "bytes: found 8 B; allowed is none"),
    ],
)
def test_errors_in_a_plan_are_reported(arguments: tuple[Any, ...], expected: str) -> None:
    options = arguments[2] if len(arguments) > 2 else {}
    with pytest.raises(ValueError) as caught:
        mq.plan(*arguments[:2], **options)
    assert expected in str(caught.value)


def test_a_plan_is_for_a_machine_or_the_postal_model() -> None:
    for machine, lambda_ in [(None, None), ("delta", 1.5)]:
        with pytest.raises(TypeError, match="allowed is one of them"):
            mq.plan("broadcast", machine, lambda_=lambda_)


def test_schedules_are_those_of_the_command(ring: Path) -> None:
    made = mq.schedule(ring)
    printed = command("schedule", "--traffic", ring)
    assert [each.to_dict()["algorithm"] for each in made] == [each["algorithm"] for each in printed["schedules"]]
    one = mq.schedule(ring, algorithm="greedy", machine="cm5-32")
    theirs = command("schedule", "--traffic", ring, "--algorithm", "greedy", "--machine", "cm5-32")
    mine = one.to_dict()
    assert {**mine, "experiment": None} == {**theirs, "experiment": None}
    one.check()
    assert one.steps >= one.least_steps == 1 and one.total_bytes == 8000
    transfers = one.transfers.to_dict()
    assert sorted(zip(transfers["source"], transfers["destination"], strict=True)) == [(r, (r + 1) % 8) for r in range(8)]
    assert transfers["bytes"] == [1000] * 8


def test_a_schedule_is_written_in_three_forms(tmp_path: Path) -> None:
    made = mq.schedule(RING, algorithm="balanced")
    (tmp_path / "ring.json").write_text(made.to_json())
    run = mq.run("schedule", "cm5-32", file=tmp_path / "ring.json")
    assert run.message_count == 8
    (tmp_path / "ring.goal").write_text(made.to_goal(pacing="barrier"))
    assert mq.run("goal", "cm5-32", file=tmp_path / "ring.goal").makespan_ps > 0
    assert made.to_msccl().startswith("<!-- a chunk has 1000 bytes -->\n<algo")
    assert "0 -> 1" in str(made)


def test_complete_and_random_exchanges() -> None:
    complete = mq.schedule(complete=8, bytes=64, algorithm="pairwise")
    assert (complete.steps, complete.total_bytes) == (7, 8 * 7 * 64)
    drawn = mq.schedule(random=(32, 25), seed=3, algorithm="greedy")
    printed = command("schedule", "--random", "32,25", "--seed", "3", "--algorithm", "greedy")
    assert drawn.total_bytes == printed["total_bytes"] and drawn.steps == printed["carrying_steps"]
    with pytest.raises(ValueError, match="did you mean `greedy`"):
        mq.schedule(RING, algorithm="gredy")
    with pytest.raises(ValueError, match="allowed is one of a matrix, complete and random"):
        mq.schedule(RING, complete=8)
    with pytest.raises(ValueError, match="algorithm: found bruck for the matrix; allowed is an algorithm for any messages"):
        mq.schedule(RING, algorithm="bruck")
    with pytest.raises(ValueError, match="order: there is no `alternate`; did you mean `alternating`"):
        complete.to_goal(order="alternate")


def test_a_matrix_may_be_a_numpy_array() -> None:
    numpy = pytest.importorskip("numpy")
    from_array = mq.schedule(numpy.array(RING), algorithm="greedy")
    assert from_array.transfers.to_dict() == mq.schedule(RING, algorithm="greedy").transfers.to_dict()


TIMES = """program,algorithm,ranks,bytes,time
one-way,,2,8,14.1 us
one-way,,2,1 KiB,16 us
one-way,,2,16 KiB,47.2 us
one-way,,2,64 KiB,145 us
all-to-all,pairwise,16,256,220 us
broadcast,binomial,32,64,70.6 us
"""


def test_a_calibration_is_what_the_command_prints(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(TIMES)
    fitted = mq.calibrate(
        "loggp", tmp_path / "times.csv", fit={"o": ("1 us", "50 us"), "L": ("1 us", "50 us")}, evaluations=60
    )
    options = ["--fit", "o=1us..50us", "--fit", "L=1us..50us", "--evaluations", "60"]
    theirs = command("calibrate", "--machine", "loggp", "--times", tmp_path / "times.csv", *options)
    assert fitted.to_dict() == theirs
    assert [each.field for each in fitted.parameters] == ["o", "L"]
    assert [each.held for each in fitted.times] == [False, True] * 3
    assert fitted.mean_absolute_error_fitted == theirs["mean_absolute_error_fitted"]
    again = mq.run("ping-pong", fitted.machine, ranks=2, bytes=8)
    assert again.makespan_ps != mq.run("ping-pong", "loggp", ranks=2, bytes=8).makespan_ps


def test_times_may_be_rows() -> None:
    names, *lines = [line.split(",") for line in TIMES.splitlines()]
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    fitted = mq.calibrate("loggp", rows, fit=["o=1us..50us"], evaluations=20)
    assert len(fitted.times) == 6 and fitted.machine.nodes == mq.Machine("loggp").nodes


@pytest.mark.parametrize(
    ("fit", "times", "expected"),
    [
        (["o=1us"], TIMES, "fit: "),
        (["o=1us..50us", "o=1us..2us"], TIMES, "`o` is given twice"),
        (["p=1us..50us"], TIMES, "there is no setting `p`"),
        (["o=1us..50us"], TIMES.replace("one-way", "oneway"), "the times:2"),
        ([], TIMES, "fit: found nothing"),
    ],
)
def test_errors_in_a_calibration_are_reported(fit: list[str], times: str, expected: str, tmp_path: Path) -> None:
    names, *lines = [line.split(",") for line in times.splitlines()]
    with pytest.raises(ValueError) as caught:
        mq.calibrate("loggp", [dict(zip(names, line, strict=True)) for line in lines], fit=fit)
    assert expected in str(caught.value)
    with pytest.raises(OSError, match="no-such"):
        mq.calibrate("loggp", tmp_path / "no-such.csv", fit=["o=1us..50us"])


def test_a_load_is_what_the_command_prints() -> None:
    mine = mq.traffic("booksim-mesh-8x8", 0.1, pattern="transpose", warm_up=2000, measure=40_000)
    options = ["--pattern", "transpose", "--rate", "0.1", "--warm-up", "2000", "--measure", "40000"]
    assert mine.to_dict() == command("run", "traffic", "--machine", "booksim-mesh-8x8", *options)
    assert mine.latency_ps is not None and 0.09 < mine.accepted < 0.11
    assert len(mine.utilisation) == len(mq.Machine("booksim-mesh-8x8").facts()["network"]["channels"])


def test_saturation_is_what_the_command_prints() -> None:
    mine = mq.saturate("moc-2-1", precision=0.1, budget=20_000)
    theirs = command("saturate", "--machine", "moc-2-1", "--precision", "0.1", "--budget", "20000")
    assert mine.to_dict() == theirs
    assert mine.saturated_rate is not None and len(mine.points) == len(theirs["points"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"pattern": "transposed"}, "pattern: there is no `transposed`; did you mean `transpose`?"),
        ({"hot_node": 3}, "hot_node: found a hot spot with uniform traffic; allowed is none but with the pattern hot-spot"),
        ({"rate": 1.5}, "rate: found 1.5; allowed is"),
        ({"machine": "loggp"}, "machine: found loggp; allowed is a machine with a network of routers"),
        ({"measure": 10, "budget": 10}, "budget: found 10; allowed is none beside a length of the measurement"),
    ],
)
def test_errors_in_a_load_are_reported(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        mq.traffic(**{"machine": "moc-2-1", "rate": 0.1, **options})
    assert expected in str(caught.value)
    with pytest.raises(ValueError, match="precision: found 0.9; allowed is 0.0001 to 0.5"):
        mq.saturate("moc-2-1", precision=0.9)


def test_the_postal_model_is_what_the_command_prints() -> None:
    mine = mq.postal("9/5", 64, alpha=0.58, t0="70 us")
    assert mine.to_dict() == command("postal", "--lambda", "9/5", "--nodes", "64", "--alpha", "0.58", "--t0", "70us")
    assert mq.postal(2, 8).trees == {"lambda tree": 5.0, "binomial tree": 6.0}
    for arguments, expected in [((0, 8), "lambda_: "), ((2, 1), "nodes: found 1; allowed is 2 to 1048576")]:
        with pytest.raises(ValueError, match=expected):
            mq.postal(*arguments)


def test_a_study_is_reproduced(tmp_path: Path) -> None:
    done = mq.reproduce("postal")
    assert all(claim.id.startswith("postal.") for claim in done.claims)
    tree = next(claim for claim in done.claims if claim.id == "postal.fig2.tree")
    assert tree.is_met and tree.ours == {"binomial_tree": 6.0, "lambda_tree": 5.0}
    done.report(tmp_path / "report.html")
    assert "<svg" in (tmp_path / "report.html").read_text()
    with pytest.raises(ValueError, match="papers: there is no `postel`; did you mean `postal`"):
        mq.reproduce("postel")


@pytest.mark.parametrize("collective", ["gather", "scatter", "all-gather", "reduce", "reduce-scatter", "scan", "exscan", "barrier"])
def test_every_collective_can_be_planned(collective: str) -> None:
    plan = mq.plan(collective, "parsytec-cc-16", bytes=None if collective == "barrier" else 2048)
    assert plan.quickest.time_ps >= plan.lower_bound_ps > 0
    assert plan.quickest.algorithm in {prediction.algorithm for prediction in plan.predictions}
