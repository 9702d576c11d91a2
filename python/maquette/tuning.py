"""What is best on a machine, and what its parameters are."""

import json
import operator
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, overload

from maquette import _maquette
from maquette.inputs import MachineLike, MatrixLike, TimesLike, machine_of, matrix_of, times_of
from maquette.machine import Machine
from maquette.showing import counted, figure, time
from maquette.tables import Table

#: The most bars of a chart.
_BARS = 12


@dataclass(frozen=True)
class Prediction:
    """How long an algorithm takes.

    Attributes
    ----------
    algorithm : str
        The algorithm.
    time_ps : int
        How long it takes. [ps]
    source : str
        How that is known: ``"simulated"`` on the machine's model; ``"stopped"`` there after this time, which is longer than another takes;
        ``"extrapolated"`` from a part of the run; or ``"estimated"`` without running it there.
    steps : dict or None
        If only some of its steps were run, how many were ``"kept"``, ``"of"`` how many.
    bytes_divided_by : int
        If its messages were shortened, by how much.
    rings : list or None
        For an all-reduce round rings in an order of their own, the ``"order"`` and ``"weight"`` of each.
    """

    algorithm: str
    time_ps: int
    source: Literal["simulated", "stopped", "extrapolated", "estimated"]
    steps: dict[str, int] | None = None
    bytes_divided_by: int = 1
    rings: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Plan:
    """Which algorithm is the fastest on a machine.

    Attributes
    ----------
    question : str
        The question.
    machine : str
        The name of the machine.
    ranks : int
        The number of ranks.
    bytes : int
        The size of a message, or the mean size if they differ. [B]
    t0_ps : int
        How long a sender is busy with a message. [ps]
    lambda_ : float
        How many times as long a message takes to arrive.
    lower_bound_ps : int
        A bound that no algorithm can beat. [ps]
    verdict : str
        What follows: ``"quickest-simulated"`` or ``"quickest-extrapolated"``, if the first prediction is the quickest of those that were
        run, or by parts of the runs, and no estimate of another is below it; otherwise ``"undecided"``.
    contenders : list of str
        The algorithms that may be the quickest.
    predictions : list of Prediction
        All algorithms: the contenders, then those that were simulated, extrapolated, stopped and estimated, the fastest of each first.
    left_out : dict
        Algorithms that are ruled out, and why.
    budget_wanted : float or None
        The budget that would have sufficed to simulate all promising algorithms, in millions, if it exceeds the given one.
    """

    question: str
    machine: str
    ranks: int
    bytes: int
    t0_ps: int
    lambda_: float
    lower_bound_ps: int
    verdict: Literal["quickest-simulated", "quickest-extrapolated", "undecided", "nothing"]
    contenders: list[str]
    predictions: list[Prediction]
    left_out: dict[str, str]
    budget_wanted: float | None
    _result: dict[str, Any]

    @property
    def quickest(self) -> Prediction:
        """The fastest algorithm, as far as `verdict` says so."""
        return self.predictions[0]

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette plan --json`` prints."""
        return self._result

    def _repr_html_(self) -> str:
        """The predicted times, for a notebook."""
        lead = f"Among {counted(self.ranks, 'rank')} of {self.machine}, {self.bytes} B a message; no algorithm takes less than {time(self.lower_bound_ps)}."
        bars = [(each.algorithm, each.time_ps / 1e6) for each in self.predictions[:_BARS]]
        rows = [(each.algorithm, time(each.time_ps), each.source) for each in self.predictions]
        head = ("algorithm", "time", "source")
        return figure(f"Plan of {self.question}", lead, ("time [us]", "algorithm"), bars, head, rows)

    def __repr__(self) -> str:
        return f"<maquette.Plan of {self.question} among {counted(self.ranks, 'rank')} of {self.machine}: {self.quickest.algorithm}>"


def plan(
    operation: str,
    machine: MachineLike | None = None,
    *,
    lambda_: float | Fraction | str | None = None,
    ranks: int | None = None,
    bytes: int | str | None = None,  # noqa: A002
    traffic: MatrixLike | None = None,
    placement: str | Sequence[int] | None = None,
    budget: float | None = None,
    seed: int | None = None,
) -> Plan:
    """Find the fastest algorithm on a machine, and how far it is from a lower bound.

    Parameters
    ----------
    operation
        The collective: ``"broadcast"``, ``"gather"``, ``"scatter"``, ``"all-gather"``, ``"reduce"``, ``"all-reduce"``,
        ``"reduce-scatter"``, ``"scan"``, ``"exscan"``, ``"all-to-all"`` or ``"barrier"``.
    machine
        A `Machine`, or anything that describes one.
    lambda_
        In place of a machine, the postal model: a message takes this many times as long to arrive as it keeps its sender
        busy.
    ranks
        The number of ranks; by default all nodes, or as many as the matrix has.
    bytes
        The size of the message, of a rank's data, or of a message from each to each; by default 1 KiB. With a matrix that
        says only where something is sent, the size of these messages; by default 1 B.
    traffic
        For an all-to-all exchange: the bytes that each rank sends to each other, a square matrix of shape (ranks, ranks), as numbers or
        in a file that ends in ``.csv``, ``.mtx`` or ``.npy``.
    placement
        The nodes that ranks run on: the name of a way to choose them, or the node of each rank; by default in order.
    budget
        How much may be simulated, in millions of packets times channels that they cross; by default 40.
    seed
        The seed of a random placement; by default 1.

    Returns
    -------
    Plan
        All algorithms, with their times.

    Raises
    ------
    ValueError, TypeError, OSError
        If something is not what is allowed, or a file cannot be read.
    """
    model = _maquette.Machine.load(json.dumps({"postal": {"lambda": str(lambda_)}})) if lambda_ is not None else None
    if (machine is None) == (model is None):
        raise TypeError("plan: found both a machine and lambda_, or none of them; allowed is one of them")
    if machine is not None:
        model = machine_of(machine)._machine
    assert model is not None
    matrix = None if traffic is None else matrix_of(traffic)
    if placement is not None and not isinstance(placement, str):
        placement = ",".join(str(operator.index(node)) for node in placement)
    result = json.loads(_maquette.plan(model, (operation, ranks, bytes, matrix, budget, placement, seed)))
    same = ("question", "machine", "ranks", "bytes", "t0_ps", "lower_bound_ps", "verdict", "contenders", "budget_wanted")
    return Plan(
        **{name: result[name] for name in same},
        lambda_=result["lambda"],
        predictions=[Prediction(**each) for each in result["algorithms"]],
        left_out={each["algorithm"]: each["why"] for each in result["left_out"]},
        _result=result,
    )


class Schedule:
    """The schedule of an exchange: which rank sends to which in each step.

    Attributes
    ----------
    algorithm : str
        The algorithm that made it.
    ranks : int
        The number of ranks.
    steps : int
        The number of steps that carry messages.
    least_steps : int
        The least number of steps for these messages, where a step has as many as this one's: one to and from each rank, all to one
        rank if the algorithm is linear, all if it is all-at-once.
    total_bytes : int
        The total size of all messages. [B]
    bytes_in_step : int
        The sum, over the steps, of the most that one rank sends or receives in the step; at least `most_bytes_of_a_rank`. [B]
    most_bytes_of_a_rank : int
        What the busiest rank sends, or receives. [B]
    lower_bound_ps : int or None
        A bound that no schedule of these messages can beat on the given machine. [ps]
    transfers : Table
        A row for each message of each step: step, source, destination, bytes.
    """

    def __init__(self, made: _maquette.Schedule) -> None:
        result = json.loads(made.json())
        self._made, self._result = made, result
        self.algorithm: str = result["algorithm"]
        self.ranks: int = result["ranks"]
        self.steps: int = result["carrying_steps"]
        self.least_steps: int = result["least_steps"]
        self.total_bytes: int = result["total_bytes"]
        self.bytes_in_step: int = result["bytes_in_step"]
        self.most_bytes_of_a_rank: int = result["most_bytes_of_a_rank"]
        self.lower_bound_ps: int | None = result["lower_bound_ps"]

    @property
    def transfers(self) -> Table:
        """A row for each message of each step: step, source, destination, bytes."""
        return Table("transfers", self._made.stream())

    def check(self) -> None:
        """Check that every message is sent once, and that no rank sends twice or receives twice in a step.

        Raises
        ------
        ValueError
            If not: with the step and the rank.
        """
        if (wrong := self._made.wrong()) is not None:
            raise ValueError(wrong)

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette schedule --algorithm NAME --json`` prints."""
        result: dict[str, Any] = self._result
        return result

    def to_json(self) -> str:
        """The schedule as JSON, for ``maquette run schedule``."""
        return self._made.to_json()

    def to_goal(self, pacing: str = "free-running", order: str = "alternating") -> str:
        """The schedule as GOAL text, for ``maquette run goal`` and LogGOPSim.

        Parameters
        ----------
        pacing
            How the ranks are kept in step: ``"free-running"``, ``"receiver-confirmed"``, ``"barrier"`` or ``"overlapped"``.
        order
            What a rank does first if it both sends and receives in a step, such as ``"alternating"``.
        """
        return self._made.to_goal(pacing, order)

    def to_msccl(self) -> str:
        """The schedule as XML for MSCCL.

        Raises
        ------
        ValueError
            If MSCCL XML cannot express it, because messages are forwarded.
        """
        return self._made.to_msccl()

    def _repr_html_(self) -> str:
        """What each step carries, for a notebook."""
        steps: dict[int, list[int]] = {}
        transfers = self.transfers.to_dict()
        for step, size in zip(transfers["step"], transfers["bytes"], strict=True):
            steps.setdefault(step, []).append(size)
        lead = f"Among {counted(self.ranks, 'rank')}: {counted(self.steps, 'step')}, at least {self.least_steps} are needed; {self.total_bytes} B in total."
        bars = [(str(step), float(sum(sizes))) for step, sizes in list(steps.items())[:_BARS]]
        rows = [(str(step), str(len(sizes)), f"{sum(sizes)} B", f"{max(sizes)} B") for step, sizes in steps.items()]
        head = ("step", "messages", "in total", "largest")
        return figure(f"Schedule: {self.algorithm}", lead, ("bytes [B]", "step"), bars, head, rows)

    def __str__(self) -> str:
        return self._made.text()

    def __repr__(self) -> str:
        return f"<maquette.Schedule {self.algorithm} among {counted(self.ranks, 'rank')}: {counted(self.steps, 'step')}>"


@overload
def schedule(
    traffic: MatrixLike | None = None,
    *,
    algorithm: str,
    complete: int | None = None,
    random: tuple[int, float] | None = None,
    bytes: int | str | None = None,
    seed: int = 1,
    machine: MachineLike | None = None,
    branch: int | None = None,
) -> Schedule: ...
@overload
def schedule(
    traffic: MatrixLike | None = None,
    *,
    algorithm: None = None,
    complete: int | None = None,
    random: tuple[int, float] | None = None,
    bytes: int | str | None = None,
    seed: int = 1,
    machine: MachineLike | None = None,
    branch: int | None = None,
) -> list[Schedule]: ...
def schedule(
    traffic: MatrixLike | None = None,
    *,
    algorithm: str | None = None,
    complete: int | None = None,
    random: tuple[int, float] | None = None,
    bytes: int | str | None = None,  # noqa: A002
    seed: int = 1,
    machine: MachineLike | None = None,
    branch: int | None = None,
) -> Schedule | list[Schedule]:
    """Make the schedule of an exchange: which rank sends to which in each step.

    Parameters
    ----------
    traffic
        The bytes that each rank sends to each other, a square matrix of shape (ranks, ranks), as numbers or in a file that ends in
        ``.csv``, ``.mtx`` or ``.npy``. Either this, `complete` or `random`.
    algorithm
        The algorithm (``maquette schedule --help`` lists them); by default all that work for any messages.
    complete
        An all-to-all among this many ranks.
    random
        Random messages: the number of ranks, and the number of messages in percent of those of an all-to-all.
    bytes
        The size of a message of an all-to-all, of random ones, and of those that a matrix marks without a size;
        by default 256 B.
    seed
        The seed of random messages.
    machine
        The machine whose tree determines the messages through the root, and whose times determine a lower bound.
    branch
        How many ranks each branch below the root of a tree has; by default those of the machine, or of a tree with four branches a
        router, as the CM-5's.

    Returns
    -------
    Schedule or list of Schedule
        The schedule of the algorithm, or those of all.

    Raises
    ------
    ValueError, TypeError, OSError
        If something is not what is allowed, or a file cannot be read.
    """
    matrix = None if traffic is None else matrix_of(traffic)
    drawn = None if random is None else (random[0], round(random[1] * 10_000), seed)
    on = None if machine is None else machine_of(machine)._machine
    made = [Schedule(each) for each in _maquette.schedules((matrix, complete, drawn, bytes), algorithm, on, branch)]
    return made if algorithm is None else made[0]


@dataclass(frozen=True)
class FittedParameter:
    """A field of a description, fitted to measured times.

    Attributes
    ----------
    field : str
        The field.
    before : str or None
        Its value in the description before, if it had one.
    value : str
        Its best value, with its unit.
    confidence_95 : str or None
        Half the width of its interval of 95% confidence, with its unit; None where the times do not determine it.
    low, high : str
        The range of its values.
    at_bound : bool
        Whether it lies at an end of its range: the best value may lie beyond.
    """

    field: str
    before: str | None
    value: str
    confidence_95: str | None
    low: str
    high: str
    at_bound: bool


@dataclass(frozen=True)
class FittedTime:
    """A measured time and the simulated one.

    Attributes
    ----------
    line : int
        Its line in the file, from 1; the first has the names of the columns.
    what : str
        What was measured, in words.
    held : bool
        Whether it was held back: nothing was fitted to it.
    measured_ps, simulated_ps : int
        The measured time, and the one simulated with the best values. [ps]
    error : float
        By how much the simulated time exceeds the measured one, as a share of the latter.
    """

    line: int
    what: str
    held: bool
    measured_ps: int
    simulated_ps: int
    error: float


@dataclass(frozen=True)
class Calibration:
    """Parameters of a machine, fitted to measured times.

    Attributes
    ----------
    parameters : list of FittedParameter
        The fitted parameters.
    times : list of FittedTime
        The measured times, fitted and held back, with their errors.
    mean_absolute_error_fitted, mean_absolute_error_held : float or None
        The mean relative error of the fitted times, and of those held back; None if there are none.
    evaluations : int
        How often all times were simulated.
    description : str
        The description with the fitted values, in TOML; its comments are kept.
    """

    parameters: list[FittedParameter]
    times: list[FittedTime]
    mean_absolute_error_fitted: float | None
    mean_absolute_error_held: float | None
    evaluations: int
    description: str
    _result: dict[str, Any]

    @property
    def machine(self) -> Machine:
        """The machine with the fitted values."""
        return Machine(tomllib.loads(self.description))

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette calibrate --json`` prints."""
        return self._result

    def __repr__(self) -> str:
        fitted = ", ".join(f"{each.field}={each.value}" for each in self.parameters)
        return f"<maquette.Calibration of {self._result['machine']}: {fitted}>"


def calibrate(
    machine: MachineLike,
    times: TimesLike,
    *,
    fit: Mapping[str, tuple[str, str]] | Sequence[str],
    evaluations: int = 300,
) -> Calibration:
    """Fit parameters of a machine's description to measured times.

    Parameters
    ----------
    machine
        A `Machine`, or anything that describes one.
    times
        The measured times: a CSV file, or rows such as ``{"program": "one-way", "ranks": 2, "bytes": 8, "time": "16 us"}``.
        ``maquette calibrate --help`` lists the programs and columns.
    fit
        The fields to fit, and the ranges of their values: ``{"node.processor_send": ("10 us", "200 us")}``, or texts such as
        ``"node.processor_send=10us..200us"``.
    evaluations
        How often at most all times are simulated, each time with other values.

    Returns
    -------
    Calibration
        The best values, and how good they are.

    Raises
    ------
    ValueError, TypeError, OSError
        If something is not what is allowed, with its line; or a file cannot be read.
    """
    if isinstance(fit, Mapping):
        fit = [f"{field}={low}..{high}" for field, (low, high) in fit.items()]
    if not fit:
        raise ValueError("fit: found nothing; allowed is a field and its range, or several")
    if evaluations < 1:
        raise ValueError(f"evaluations: found {evaluations}; allowed is 1 or more")
    result, description = _maquette.calibrate(machine_of(machine)._machine, times_of(times), list(fit), evaluations)
    fitted = json.loads(result)
    return Calibration(
        parameters=[FittedParameter(**each) for each in fitted["parameters"]],
        times=[FittedTime(**each) for each in fitted["times"]],
        mean_absolute_error_fitted=fitted["mean_absolute_error_fitted"],
        mean_absolute_error_held=fitted["mean_absolute_error_held"],
        evaluations=fitted["evaluations"],
        description=description,
        _result=fitted,
    )


@dataclass(frozen=True)
class Postal:
    """The results of the postal model for a broadcast and for an all-reduce.

    Attributes
    ----------
    lambda_ : float
        The latency of a message in steps.
    nodes : int
        The number of nodes.
    gamma : float
        The factor by which a broadcast grows per step.
    lower_bound_steps : float
        A lower bound of any broadcast, in steps.
    trees : dict
        How many steps a broadcast takes over each tree, by its name.
    delay_receive_steps, delay_send_steps : float
        How many steps a census takes, in its two variants; with delay-receive it takes no more than that.
    one_alpha_for_all : tuple of float or None
        The smallest and the largest share that serves 2 to `nodes` nodes alike, if there is one.
    """

    lambda_: float
    nodes: int
    gamma: float
    lower_bound_steps: float
    trees: dict[str, float]
    delay_receive_steps: float
    delay_send_steps: float
    one_alpha_for_all: tuple[float, float] | None
    _result: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What ``maquette postal --json`` prints, with the look-up table of alphas."""
        return self._result

    def __repr__(self) -> str:
        return f"<maquette.Postal lambda {self.lambda_:g}, {self.nodes} nodes: {self.lower_bound_steps:g} steps at least>"


def postal(
    lambda_: float | Fraction | str, nodes: int, *, alpha: float | None = None, t0: int | str | None = None
) -> Postal:
    """Ask the postal model how fast a broadcast can be, and which trees achieve it.

    Parameters
    ----------
    lambda_
        The latency of a message in steps.
    nodes
        The number of nodes.
    alpha
        Also compute the time of the tree in which a source always keeps this share of its nodes, from 0.5 to under 1.
    t0
        The length of a step: a text such as ``"70 us"``, or a number. [ps]

    Returns
    -------
    Postal
        The results.

    Raises
    ------
    ValueError, TypeError
        If something is not what is allowed.
    """
    result = json.loads(_maquette.postal(str(lambda_), nodes, None if alpha is None else str(alpha), t0))
    for_all = result["one_alpha_for_all"]
    return Postal(
        lambda_=result["lambda"],
        nodes=result["nodes"],
        gamma=result["gamma"],
        lower_bound_steps=result["lower_bound_steps"],
        trees={each["name"]: each["steps"] for each in result["trees"]},
        delay_receive_steps=result["delay_receive_steps"],
        delay_send_steps=result["delay_send_steps"],
        one_alpha_for_all=for_all and (for_all["least"], for_all["most"]),
        _result=result,
    )
