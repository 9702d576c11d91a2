"""Loads that the network does not carry are not called stable, and saturation is where long runs have it.

The hold-outs are outcomes of long runs, none of which the bounds of the verdict were tuned on:

    maquette run traffic --machine MACHINE --pattern PATTERN --packet FLITS --rate RATE --warm-up W --measure M

where what holds accepts what is offered, without growth, and what does not falls behind more and more.
"""

import json

import pytest
from command import maquette


def verdict(*arguments: str, seconds: float = 600) -> str:
    """The verdict of an open-loop run, whose exit status must say the same."""
    done = maquette("run", "traffic", *arguments, "--json", seconds=seconds)
    found = json.loads(done.stdout)["verdict"]
    assert isinstance(found, str)
    assert done.returncode == (0 if found == "stable" else 1), done.stderr
    return found


def bracket(*arguments: str, seconds: float = 600) -> tuple[float, float]:
    """Between which rates `saturate` finds saturation."""
    done = maquette("saturate", *arguments, "--json", seconds=seconds)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["stable_rate"], found["saturated_rate"]


def test_a_mesh_past_saturation_is_not_called_stable() -> None:
    """0.184 flits a node and cycle are 2% more than the mesh carries."""
    assert verdict("--machine", "booksim-mesh-8x8", "--rate", "0.184").startswith("saturated")


def test_what_is_not_decided_is_called_so() -> None:
    """A budget that is too small for a load close to saturation gives no verdict, and the exit status is 1."""
    arguments = ["--machine", "booksim-mesh-8x8", "--rate", "0.178", "--budget", "60000"]
    assert verdict(*arguments) == "not decided"


def test_far_too_much_is_told_at_once() -> None:
    """Overload is told after a few thousand cycles."""
    done = maquette("run", "traffic", "--machine", "booksim-mesh-8x8", "--rate", "0.9", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["cycles"] <= 5_000


@pytest.mark.long
def test_a_dragonfly_just_past_saturation_is_not_called_stable() -> None:
    """Of 0.35 flits a node and cycle 0.332 were accepted, and it was called stable."""
    for rate in ["0.332", "0.35"]:
        assert verdict("--machine", "slingshot-1024", "--rate", rate).startswith("saturated"), rate


@pytest.mark.long
def test_a_dragonfly_just_below_saturation_is_stable() -> None:
    """0.325 holds."""
    assert verdict("--machine", "slingshot-1024", "--rate", "0.325") == "stable"


@pytest.mark.long
def test_a_long_measurement_of_a_mesh_at_saturation_is_not_stable() -> None:
    """0.18 is saturated over 300,000 cycles."""
    arguments = ["--machine", "booksim-mesh-8x8", "--rate", "0.18", "--measure", "300000"]
    assert verdict(*arguments) != "stable"


@pytest.mark.long
def test_saturation_of_a_mesh_is_where_long_runs_have_it() -> None:
    """0.176 holds for a million cycles, and 0.182 does not."""
    stable, saturated = bracket("--machine", "booksim-mesh-8x8")
    assert 0.98 * 0.176 <= stable <= 0.18
    assert 0.178 <= saturated <= 1.02 * 0.182
