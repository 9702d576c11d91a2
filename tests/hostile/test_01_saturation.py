"""Loads that the network does not carry are not called stable, and saturation is found where long runs have it.

The expected results are those of long runs that were not used to tune the bounds of the verdict:

    maquette run traffic --machine MACHINE --pattern PATTERN --packet FLITS --rate RATE --warm-up W --measure M

A stable load accepts what is offered, without growth; any other falls behind more and more.
"""

import json

import pytest
from command import maquette


def verdict(*arguments: str, seconds: float = 600) -> str:
    """The verdict of an open-loop run; the exit status must agree."""
    completed = maquette("run", "traffic", *arguments, "--json", seconds=seconds)
    found = json.loads(completed.stdout)["verdict"]
    assert isinstance(found, str)
    assert completed.returncode == (0 if found == "stable" else 1), completed.stderr
    return found


def saturation(*arguments: str, seconds: float = 600) -> tuple[float, float]:
    """The rates between which `saturate` finds saturation."""
    completed = maquette("saturate", *arguments, "--json", seconds=seconds)
    assert completed.returncode == 0, completed.stderr
    found = json.loads(completed.stdout)
    return found["stable_rate"], found["saturated_rate"]


def test_a_mesh_past_saturation_is_not_called_stable() -> None:
    """0.184 flits per node and cycle are 2% more than the mesh carries."""
    assert verdict("--machine", "booksim-mesh-8x8", "--rate", "0.184").startswith("saturated")


def test_a_load_that_is_not_decided_is_reported_as_such() -> None:
    """A budget that is too small for a load close to saturation gives no verdict, and the exit status is 1."""
    arguments = ["--machine", "booksim-mesh-8x8", "--rate", "0.178", "--budget", "60000"]
    assert verdict(*arguments) == "not decided"


def test_extreme_overload_is_recognized_early() -> None:
    """The verdict comes after a few thousand cycles."""
    completed = maquette("run", "traffic", "--machine", "booksim-mesh-8x8", "--rate", "0.9", "--json")
    assert completed.returncode == 1
    assert json.loads(completed.stdout)["cycles"] <= 5_000


@pytest.mark.long
def test_a_dragonfly_just_past_saturation_is_not_called_stable() -> None:
    """At 0.35 flits per node and cycle 0.332 were accepted, and this was called stable."""
    for rate in ["0.332", "0.35"]:
        assert verdict("--machine", "slingshot-1024", "--rate", rate).startswith("saturated"), rate


@pytest.mark.long
def test_a_dragonfly_just_below_saturation_is_stable() -> None:
    """0.325 flits per node and cycle are carried."""
    assert verdict("--machine", "slingshot-1024", "--rate", "0.325") == "stable"


@pytest.mark.long
def test_a_long_measurement_of_a_mesh_at_saturation_is_not_stable() -> None:
    """0.18 flits per node and cycle are saturated over 300,000 cycles."""
    arguments = ["--machine", "booksim-mesh-8x8", "--rate", "0.18", "--measure", "300000"]
    assert verdict(*arguments) != "stable"


@pytest.mark.long
def test_saturation_of_a_mesh_is_where_long_runs_have_it() -> None:
    """0.176 is stable for a million cycles, and 0.182 is not."""
    stable, saturated = saturation("--machine", "booksim-mesh-8x8")
    assert 0.98 * 0.176 <= stable <= 0.18
    assert 0.178 <= saturated <= 1.02 * 0.182
