"""Open-loop traffic: packets injected at a given rate, whether or not the network keeps up."""

import json
from dataclasses import dataclass
from typing import Any

from maquette import _maquette
from maquette.inputs import MachineLike, machine_of


@dataclass(frozen=True)
class Traffic:
    """The result of a load.

    Attributes
    ----------
    machine : str
        The name of the machine.
    pattern : str
        The traffic pattern.
    rate : float
        The rate of each node. [flits/node/cycle]
    stable : bool
        Whether the network carries it.
    verdict : str
        The same in words, with the reason if it does not.
    cycle_ps : int
        The time in which a node can send a flit. [ps]
    offered, accepted : float
        What was offered, and what arrived. [flits/node/cycle]
    latency_ps, network_latency_ps : dict or None
        From birth, and from injection, to the arrival of the tail: mean, least, most and percentiles; None if nothing was measured. [ps]
    utilisation : list of float
        The share of time that each channel was busy, from 0 to 1, in the order of ``Machine.facts()["network"]["channels"]``.
    """

    machine: str
    pattern: str
    rate: float
    stable: bool
    verdict: str
    cycle_ps: int
    offered: float
    accepted: float
    latency_ps: dict[str, float] | None
    network_latency_ps: dict[str, float] | None
    utilisation: list[float]
    _result: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette run traffic --json`` prints."""
        return self._result

    def __repr__(self) -> str:
        return f"<maquette.Traffic {self.pattern} at {self.rate:g} on {self.machine}: {self.verdict}>"


@dataclass(frozen=True)
class LoadPoint:
    """A load that was tried.

    Attributes
    ----------
    rate : float
        The rate of each node. [flits/node/cycle]
    stable : bool
        Whether the network carries it.
    verdict : str
        The same in words.
    offered, accepted : float
        What was offered, and what arrived. [flits/node/cycle]
    latency_mean_cycles, latency_p99_cycles : float or None
        From birth to the arrival of the tail: the mean, and what 99% do not exceed. [cycles] None where it is not stable.
    """

    rate: float
    stable: bool
    verdict: str
    offered: float
    accepted: float
    latency_mean_cycles: float | None
    latency_p99_cycles: float | None


@dataclass(frozen=True)
class Saturation:
    """The load at which a network saturates.

    Attributes
    ----------
    machine : str
        The name of the machine.
    pattern : str
        The traffic pattern.
    stable_rate, saturated_rate : float or None
        The highest rate that it carries, and the lowest that it does not. [flits/node/cycle]
    points : list of LoadPoint
        All rates that were tried, in ascending order.
    overload : LoadPoint or None
        What it accepts when more is offered than it can carry.
    """

    machine: str
    pattern: str
    stable_rate: float | None
    saturated_rate: float | None
    points: list[LoadPoint]
    overload: LoadPoint | None
    _result: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette saturate --json`` prints."""
        return self._result

    def __repr__(self) -> str:
        return f"<maquette.Saturation {self.pattern} on {self.machine}: {self.stable_rate} to {self.saturated_rate}>"


def traffic(
    machine: MachineLike,
    rate: float,
    *,
    pattern: str = "uniform",
    hot_node: int | None = None,
    hot_fraction: float | None = None,
    packet: int = 16,
    seed: int = 1,
    warm_up: int | None = None,
    measure: int | None = None,
    budget: int | None = None,
    latency_limit: int | None = None,
    engine: str = "fast",
) -> Traffic:
    """Offer a network packets at a given rate: latency, accepted throughput.

    Parameters
    ----------
    machine
        A `Machine` with a network of routers, or anything that describes one.
    rate
        The rate of each node: 1 is the capacity of its channel. [flits/node/cycle]
    pattern
        The destinations: ``"uniform"``, ``"transpose"``, ``"bit-complement"``, ``"bit-reverse"``, ``"shuffle"``, ``"tornado"``,
        ``"neighbour"`` or ``"hot-spot"``.
    hot_node, hot_fraction
        The node of a hot spot (by default 0), and the share of packets that go to it (0.1).
    packet
        The length of a packet, header included. [flits]
    seed
        The seed of random choices.
    warm_up
        The length of the warm-up; by default until the latency has settled. [cycles]
    measure
        The length of the measurement; by default until it is decided whether the network carries the load. [cycles]
    budget
        The most cycles in which to decide that. [cycles]
    latency_limit
        The mean latency above which a load is too high. [cycles]
    engine
        What moves the flits: ``"fast"`` or ``"reference"``; both compute the same times.

    Returns
    -------
    Traffic
        The result.

    Raises
    ------
    Deadlock
        If the network is stuck.
    ValueError, TypeError
        If something is not what is allowed.
    """
    fields = _load_json(locals())
    result = json.loads(_maquette.traffic(machine_of(machine)._machine, rate, fields))
    return _traffic(result)


def saturate(
    machine: MachineLike,
    *,
    pattern: str = "uniform",
    hot_node: int | None = None,
    hot_fraction: float | None = None,
    packet: int = 16,
    seed: int = 1,
    warm_up: int | None = None,
    measure: int | None = None,
    budget: int | None = None,
    latency_limit: int | None = None,
    engine: str = "fast",
    precision: float = 0.01,
) -> Saturation:
    """Find the load at which a network saturates.

    Parameters
    ----------
    machine, pattern, hot_node, hot_fraction, packet, seed, warm_up, measure, budget, latency_limit, engine
        As in `traffic`.
    precision
        How close the highest stable rate and the lowest saturated one must be, as a share of the latter.

    Returns
    -------
    Saturation
        The saturation rate, and latency over load.

    Raises
    ------
    Deadlock
        If the network is stuck.
    ValueError, TypeError
        If something is not what is allowed.
    """
    fields = _load_json(locals())
    result = json.loads(_maquette.saturate(machine_of(machine)._machine, precision, fields))
    return Saturation(
        machine=result["machine"],
        pattern=result["pattern"],
        stable_rate=result["stable_rate"],
        saturated_rate=result["saturated_rate"],
        points=[_point(each) for each in result["points"]],
        overload=result["overload"] and _point(result["overload"]),
        _result=result,
    )


def _load_json(arguments: dict[str, Any]) -> str:
    """The load to offer, as JSON."""
    excluded = ("machine", "rate", "precision")
    return json.dumps({name: value for name, value in arguments.items() if name not in excluded and value is not None})


def _point(fields: dict[str, Any]) -> LoadPoint:
    return LoadPoint(
        rate=fields["rate"],
        stable=fields["stable"],
        verdict=fields["verdict"],
        offered=fields["offered_flits_per_node_cycle"],
        accepted=fields["accepted_flits_per_node_cycle"],
        latency_mean_cycles=fields["latency_mean_cycles"],
        latency_p99_cycles=fields["latency_p99_cycles"],
    )


def _traffic(result: dict[str, Any]) -> Traffic:
    return Traffic(
        machine=result["machine"],
        pattern=result["pattern"],
        rate=result["rate"],
        stable=result["stable"],
        verdict=result["verdict"],
        cycle_ps=result["cycle_ps"],
        offered=result["offered_flits_per_node_cycle"],
        accepted=result["accepted_flits_per_node_cycle"],
        latency_ps=result.get("latency_ps"),
        network_latency_ps=result.get("network_latency_ps"),
        utilisation=result["utilisation"],
        _result=result,
    )
