"""Collectives that a program awaits: what all its ranks do together, by any algorithm of the catalogue."""

import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from maquette._maquette import Verb
from maquette.endpoint import Endpoint
from maquette.requests import ask

if TYPE_CHECKING:
    from fractions import Fraction

    from typing_extensions import Buffer

_COLLECTIVE = Verb.Collective

#: The numbers of an operator, by the letters with which buffers name them.
_NUMBERS = {"d": "f64", "f": "f32", "q": "i64", "l": "i64", "Q": "u64", "L": "u64"}


async def broadcast(
    endpoint: Endpoint,
    data: "Buffer | str | None" = None,
    *,
    size: int | str | None = None,
    root: int = 0,
    algorithm: str | None = None,
    lambda_: "float | Fraction | str | None" = None,
    t0: str | None = None,
    alpha: float | None = None,
    segment: int | str | None = None,
    order: str | None = None,
) -> bytes | None:
    """Bring a message of one rank to all others. Every rank has to await it.

    Its messages have a tag of their own, which a receive for any tag does not take.

    Parameters
    ----------
    endpoint
        That of the rank.
    data, size
        The message, as those of `Endpoint.send`. Ranks that are not the root may leave it out, unless the algorithm cuts messages: then
        they have to say its size, or have data of this size, which is not looked at.
    root
        Which rank has the message.
    algorithm
        Along which tree, such as ``"binomial"``; ``maquette run broadcast --help`` lists them. Lambda-tree where `lambda_` or `alpha` is given,
        otherwise binomial, if left out.
    lambda_
        The latency, in steps, that a tree is made for.
    t0
        How long a step is, for algorithms that are made for it.
    alpha
        In a tree by splitting, the share of its ranks that a source keeps for itself, from 0.5 to under 1.
    segment
        The size of a segment, for algorithms that cut messages: a text, or a number; 4 KiB, if left out. [B]
    order
        In which order ranks come after the root: ``"cyclic"`` (as if left out) or ``"permuted"``, as the seed of the run decides.

    Returns
    -------
    bytes or None
        The message; None if only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Unfit
        If the machine has no hardware for the algorithm, or the rank has not given a size that it has to.
    """
    parameters = _told(
        root=root, algorithm=algorithm, **{"lambda": lambda_}, t0=t0, alpha=alpha, segment=segment, order=order
    )
    received: bytes | None = await ask((_COLLECTIVE, "broadcast", parameters, [(data, size)]))
    return received


async def all_reduce(
    endpoint: Endpoint,
    data: "Buffer | str | None" = None,
    operator: str = "sum",
    *,
    size: int | str | None = None,
    root: int = 0,
    algorithm: str | None = None,
    lambda_: "float | Fraction | str | None" = None,
    t0: str | None = None,
    alpha: float | None = None,
    order: str | None = None,
) -> bytes | None:
    """Combine what all ranks have, such that all have the result. Every rank has to await it, with as much.

    Parameters
    ----------
    endpoint
        That of the rank.
    data, size
        What the rank has: numbers, as a numpy array or an `array.array` has them, or their bytes; or only a size.
    operator
        What is done to two of them: ``"sum"``, ``"product"``, ``"min"`` or ``"max"`` of numbers as `data` has them, or of the kind that is named,
        as in ``"sum-f32"``: f64, f32, i64 or u64; or ``"and"``, ``"or"``, ``"xor"`` of bits.
    root
        Which rank comes first.
    algorithm
        How, such as ``"ring"``; ``maquette run all-reduce --help`` lists them. Census where `lambda_` is given, otherwise
        recursive-doubling, if left out.
    lambda_, t0, alpha, order
        As those of `broadcast`.

    Returns
    -------
    bytes or None
        The result; ``numpy.frombuffer`` makes numbers of it. None if only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Unfit
        If the data are not of whole numbers.
    """
    parameters = _told(
        root=root,
        algorithm=algorithm,
        operator=_operator(operator, data),
        **{"lambda": lambda_},
        t0=t0,
        alpha=alpha,
        order=order,
    )
    combined: bytes | None = await ask((_COLLECTIVE, "all-reduce", parameters, [(data, size)]))
    return combined


async def all_to_all(
    endpoint: Endpoint,
    data: "Sequence[Buffer | str | None]" = (),
    *,
    size: int | str | None = None,
    algorithm: str | None = None,
    pacing: str | None = None,
    order: str | None = None,
    reshuffle: str | None = None,
) -> list[bytes | None]:
    """Bring a message of every rank to every other. Every rank has to await it.

    Parameters
    ----------
    endpoint
        That of the rank.
    data
        What the rank has for each, itself included, in order of rank: each as that of `Endpoint.send`, or None for an empty message.
    size
        In place of data: how large each message is. [B]
    algorithm
        How the messages go, such as ``"bruck"``; ``maquette run all-to-all --help`` lists them; pairwise, if left out. One that forwards
        messages needs them all of one size.
    pacing
        What keeps the ranks in step: ``"free-running"`` (as if left out), ``"receiver-confirmed"`` or ``"barrier"``.
    order
        What a rank does first that both sends and receives in a step; as is best for the machine, if left out.
    reshuffle
        How long a rank takes to copy a byte into a message that it forwards, or out of one.

    Returns
    -------
    list of bytes or None
        What each rank had for this one, in order of rank; None where only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Unfit
        If there are not as many messages as ranks, or the algorithm is not for so many ranks.
    """
    parameters = _told(algorithm=algorithm, pacing=pacing, order=order, reshuffle=reshuffle)
    messages = [(each, None) for each in data] if size is None else [(None, size)] * endpoint.size
    received: list[bytes | None] = await ask((_COLLECTIVE, "all-to-all", parameters, messages))
    return received


async def barrier(endpoint: Endpoint) -> None:
    """Wait until all ranks have come here, by dissemination. Every rank has to await it.

    Parameters
    ----------
    endpoint
        That of the rank.
    """
    await ask((_COLLECTIVE, "barrier", "{}", []))


def _told(**parameters: Any) -> str:
    """The parameters that are not left out, in JSON."""
    return _as_json(tuple((name, value) for name, value in parameters.items() if value is not None))


@functools.lru_cache(maxsize=256)
def _as_json(parameters: tuple[tuple[str, Any], ...]) -> str:
    texts = {name: str(value) if name in ("lambda", "alpha") else value for name, value in parameters}
    return json.dumps(texts)


def _operator(operator: str, data: object) -> str:
    """The operator with the kind of numbers that `data` has, where it does not name one."""
    if operator not in ("sum", "product", "min", "max"):
        return operator
    try:
        kind = memoryview(data).format  # type: ignore[arg-type]
    except TypeError:
        return f"{operator}-f64"
    if kind not in _NUMBERS:
        raise TypeError(
            f"operator: found {operator!r} of buffers with the format {kind!r}; allowed are numbers of 64 bits or floats of 32, "
            f"or an operator that names the kind, such as '{operator}-f64'"
        )
    return f"{operator}-{_NUMBERS[kind]}"
