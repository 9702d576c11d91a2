"""Maquette: message-passing programs on models of machines, accurate to the flit.

Describe a machine, run a program on it, and see how long it takes and why::

    import maquette as mq

    machine = mq.Machine("infiniband-128", set={"channels.buffers": 64})
    run = mq.run("broadcast", machine, ranks=64, algorithm="binomial", bytes="4 KiB")
    print(run.makespan_ps)

A program of your own is an async function of an `Endpoint`; `run` takes it in place of a name.
"""

import importlib
from typing import TYPE_CHECKING

from maquette._maquette import Deadline, Deadlock, Lost, MaquetteError, Mismatch, NoSuchRank, Received, Unfit
from maquette.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    exscan,
    gather,
    reduce,
    reduce_scatter,
    scan,
    scatter,
)
from maquette.combinators import first, join
from maquette.command import main
from maquette.endpoint import Endpoint
from maquette.figures import Figure
from maquette.groups import Group
from maquette.machine import Machine
from maquette.pending import Request, wait_all, wait_any
from maquette.running import Run, run, run_experiment
from maquette.tables import Table

if TYPE_CHECKING:
    from maquette.launching import Launch, launch
    from maquette.loads import LoadPoint, Saturation, Traffic, saturate, traffic
    from maquette.studies import Claim, Point, Reproduction, points, reproduce
    from maquette.sweeping import Sweep, sweep
    from maquette.tuning import (
        Calibration,
        FittedParameter,
        FittedTime,
        Plan,
        Postal,
        Prediction,
        Schedule,
        calibrate,
        plan,
        postal,
        schedule,
    )

__all__ = [
    "Calibration",
    "Claim",
    "Deadline",
    "Deadlock",
    "Endpoint",
    "Figure",
    "FittedParameter",
    "FittedTime",
    "Group",
    "Launch",
    "LoadPoint",
    "Lost",
    "Machine",
    "MaquetteError",
    "Mismatch",
    "NoSuchRank",
    "Plan",
    "Point",
    "Postal",
    "Prediction",
    "Received",
    "Reproduction",
    "Request",
    "Run",
    "Saturation",
    "Schedule",
    "Sweep",
    "Table",
    "Traffic",
    "Unfit",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "calibrate",
    "exscan",
    "first",
    "gather",
    "join",
    "launch",
    "main",
    "plan",
    "postal",
    "points",
    "reduce",
    "reduce_scatter",
    "reproduce",
    "run",
    "run_experiment",
    "saturate",
    "scan",
    "scatter",
    "schedule",
    "sweep",
    "traffic",
    "wait_all",
    "wait_any",
]

#: Names imported on first use, since most programs do without them: module by name.
_LATER = {
    **dict.fromkeys(["Launch", "launch"], "launching"),
    **dict.fromkeys(["LoadPoint", "Saturation", "Traffic", "saturate", "traffic"], "loads"),
    **dict.fromkeys(["Sweep", "sweep"], "sweeping"),
    **dict.fromkeys(["Claim", "Point", "Reproduction", "points", "reproduce"], "studies"),
    **dict.fromkeys(
        ["Calibration", "FittedParameter", "FittedTime", "Plan", "Postal", "Prediction", "Schedule"]
        + ["calibrate", "plan", "postal", "schedule"],
        "tuning",
    ),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
