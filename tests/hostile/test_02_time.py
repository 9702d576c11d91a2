"""No clock wraps: times beyond the countable range are refused, with an error that says so."""

from pathlib import Path

import pytest
from command import answer, refusal

MACHINES = ["loggp", "infiniband-128", "torus-512", "moc-3-2", "dp-smp-8", "ethernet-128"]
TOO_LONG = "that picoseconds can count"


def machine(name: str) -> list[str]:
    return ["--machine", name, "--nodes", "8"]


@pytest.mark.parametrize("name", MACHINES)
def test_an_application_that_computes_for_too_long_is_refused(name: str) -> None:
    """A million operations of 100 s are refused on every kind of machine."""
    assert TOO_LONG in refusal("run", "fft", *machine(name), "--operation", "100s")


@pytest.mark.parametrize("name", MACHINES)
def test_five_calculations_whose_sum_is_too_long_are_refused(name: str, tmp_path: Path) -> None:
    """Each can be counted; their sum, modulo 2^64 ps, would look like a time."""
    schedule = tmp_path / "long.goal"
    lines = [f"c{number}: calc 9000000000000000" for number in range(5)]
    lines += [f"c{number} requires c{number - 1}" for number in range(1, 5)]
    schedule.write_text("num_ranks 1\nrank 0 {\n" + "\n".join(lines) + "\n}\n")
    error = refusal("run", "goal", schedule, "--machine", name)
    assert TOO_LONG in error and "rank 0" in error


@pytest.mark.parametrize("name", MACHINES)
def test_a_sum_that_is_negative_in_signed_64_bits_is_refused(name: str, tmp_path: Path) -> None:
    """Two calculations of 105 days each, one after the other, end after 2^63 ps."""
    schedule = tmp_path / "two.goal"
    schedule.write_text("num_ranks 1\nrank 0 {\na: calc 9100000000000000\nb: calc 9100000000000000\nb requires a\n}\n")
    error = refusal("run", "goal", schedule, "--machine", name)
    assert TOO_LONG in error and "106 days" in error and "rank 0" in error


def test_long_sums_within_the_range_are_right(tmp_path: Path) -> None:
    """A hundred days are counted to the nanosecond."""
    schedule = tmp_path / "days.goal"
    schedule.write_text("num_ranks 1\nrank 0 {\na: calc 4320000000000000\nb: calc 4320000000000000\nb requires a\n}\n")
    for name in ["loggp", "infiniband-128"]:
        assert answer("run", "goal", schedule, "--machine", name)["makespan_ps"] == 8_640_000_000_000_000_000


def test_steps_of_the_postal_model_that_are_too_long_are_refused() -> None:
    """The time of many steps is not reported as the longest that can be counted."""
    steps = ["--lambda", "100000", "--t0", "9000000s"]
    assert TOO_LONG in refusal("run", "all-to-all", "--algorithm", "pairwise", *steps, "--nodes", "8", "--bytes", "8")
    assert TOO_LONG in refusal("postal", *steps, "--nodes", "64")


def test_a_longer_step_than_can_be_counted_is_refused() -> None:
    error = refusal("postal", "--lambda", "2", "--t0", "10000000s", "--nodes", "64")
    assert "it is more than 106 days, the most " + TOO_LONG in error
