"""Maquette: message-passing programs on models of machines, accurate to the flit.

Describe a machine, run a program on it, and see how long it takes and why::

    import maquette as mq

    machine = mq.Machine("infiniband-128", set={"channels.buffers": 64})
    run = mq.run("broadcast", machine, ranks=64, algorithm="binomial", bytes="4 KiB")
    print(run.makespan_ps)

A program of one's own is an async function of an `Endpoint`; `run` takes it in place of a name.
"""

from maquette._maquette import Deadline, Deadlock, Lost, MaquetteError, NoSuchRank, Received, Unfit
from maquette.combinators import first, gather
from maquette.command import main
from maquette.endpoint import Endpoint
from maquette.machine import Machine
from maquette.running import Run, run, run_experiment
from maquette.tables import Table

__all__ = [
    "Deadline",
    "Deadlock",
    "Endpoint",
    "Lost",
    "Machine",
    "MaquetteError",
    "NoSuchRank",
    "Received",
    "Run",
    "Table",
    "Unfit",
    "first",
    "gather",
    "main",
    "run",
    "run_experiment",
]
