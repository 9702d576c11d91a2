"""Collectives that a program awaits on all its ranks, or on those of a group, with any algorithm of the catalogue."""

import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from maquette._maquette import Verb
from maquette.requests import ask

if TYPE_CHECKING:
    from fractions import Fraction

    from typing_extensions import Buffer

    from maquette.endpoint import Endpoint
    from maquette.groups import Group

_COLLECTIVE = Verb.Collective

#: The number types of an operator, by their format letters in buffers.
_NUMBERS = {"d": "f64", "f": "f32", "q": "i64", "l": "i64", "Q": "u64", "L": "u64"}


async def broadcast(
    endpoint: "Endpoint | Group",
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

    Its messages have a tag of their own, which a receive for any tag does not match.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size
        The message, as in `Endpoint.send`. Ranks other than the root may leave it out, unless the algorithm segments messages: then
        they have to give its size, or data of this size, whose contents are ignored.
    root
        The rank that has the message.
    algorithm
        The tree, such as ``"binomial"``; ``maquette run broadcast --help`` lists them. By default lambda-tree if `lambda_` or `alpha` is given,
        otherwise binomial.
    lambda_
        The latency, in steps, that a tree is built for.
    t0
        The length of a step, for algorithms that are built for it.
    alpha
        In a tree by splitting, the share of its ranks that a source keeps for itself, from 0.5 to under 1.
    segment
        The size of a segment, for algorithms that segment messages: a text, or a number; by default 4 KiB. [B]
    order
        The order of ranks after the root: ``"cyclic"`` (the default) or ``"permuted"``, as the seed of the run decides.

    Returns
    -------
    bytes or None
        The message; None if only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place; for real on several hosts, as far as the tags of its messages show it.
    Unfit
        If the machine has no hardware for the algorithm, or the rank has not given a required size.
    """
    parameters = _parameters_json(
        root=root, algorithm=algorithm, **{"lambda": lambda_}, t0=t0, alpha=alpha, segment=segment, order=order
    )
    received: bytes | None = await ask((_COLLECTIVE, "broadcast", parameters, [(data, size)], endpoint.members))
    return received


async def all_reduce(
    endpoint: "Endpoint | Group",
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
    """Combine the data of all ranks, and give all of them the result. Every rank has to await it, with data of the same size.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size
        The rank's contribution: numbers in a numpy array or an `array.array`, or their bytes; or only a size.
    operator
        How two of them are combined: ``"sum"``, ``"product"``, ``"min"`` or ``"max"`` of numbers of the type in `data`, or of a named type,
        as in ``"sum-f32"``: f64, f32, i64 or u64; or ``"and"``, ``"or"``, ``"xor"`` of bits.
    root
        The rank that comes first.
    algorithm
        The algorithm, such as ``"ring"``; ``maquette run all-reduce --help`` lists them. By default census if `lambda_` is given, otherwise
        recursive-doubling.
    lambda_, t0, alpha, order
        As in `broadcast`.

    Returns
    -------
    bytes or None
        The result; ``numpy.frombuffer`` turns it into numbers. None if only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place; for real on several hosts, as far as the tags of its messages show it.
    Unfit
        If the data are not a whole number of elements.
    """
    parameters = _parameters_json(
        root=root,
        algorithm=algorithm,
        operator=_operator(operator, data),
        **{"lambda": lambda_},
        t0=t0,
        alpha=alpha,
        order=order,
    )
    combined: bytes | None = await ask((_COLLECTIVE, "all-reduce", parameters, [(data, size)], endpoint.members))
    return combined


async def all_to_all(
    endpoint: "Endpoint | Group",
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
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data
        The message for each rank, itself included, in order of rank: each as in `Endpoint.send`, or None for an empty message.
    size
        The size of each message, in place of data. [B]
    algorithm
        The algorithm, such as ``"bruck"``; ``maquette run all-to-all --help`` lists them; by default pairwise. One that forwards
        messages needs them all to have the same size.
    pacing
        How the ranks are kept in step: ``"free-running"`` (the default), ``"receiver-confirmed"``, ``"barrier"`` or ``"overlapped"``.
    order
        What a rank does first if it both sends and receives in a step; by default whatever is best for the machine.
    reshuffle
        How long a rank takes to copy a byte into a message that it forwards, or out of one.

    Returns
    -------
    list of bytes or None
        The message from each rank, in order of rank; None where only a size was sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place; for real on several hosts, as far as the tags of its messages show it.
    Unfit
        If there are not as many messages as ranks, or the algorithm does not support this number of ranks.
    """
    parameters = _parameters_json(algorithm=algorithm, pacing=pacing, order=order, reshuffle=reshuffle)
    messages = [(each, None) for each in data] if size is None else [(None, size)] * endpoint.size
    received: list[bytes | None] = await ask((_COLLECTIVE, "all-to-all", parameters, messages, endpoint.members))
    return received


async def barrier(endpoint: "Endpoint | Group", *, algorithm: str | None = None) -> None:
    """Wait until all ranks have reached the barrier. Every rank has to await it.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.

    algorithm
        The algorithm, such as ``"binomial"``; ``maquette run barrier --help`` lists them; by default dissemination.

    Raises
    ------
    Mismatch
        As in `broadcast`.
    """
    parameters = _parameters_json(algorithm=algorithm)
    await ask((_COLLECTIVE, "barrier", parameters, [], endpoint.members))


async def gather(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    *,
    size: int | str | None = None,
    sizes: "Sequence[int | str] | None" = None,
    root: int = 0,
    algorithm: str | None = None,
) -> bytes | None:
    """Bring the data of all ranks to one of them. Every rank has to await it.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size
        The rank's data, as in `Endpoint.send`: of the same size at every rank, unless there are `sizes`.
    sizes
        The size of each rank's data, in order, the same list at every rank. [B]
    root
        The rank that ends with all data.
    algorithm
        The algorithm, such as ``"linear"``, which lets sizes differ without `sizes`; ``maquette run gather --help`` lists them.

    Returns
    -------
    bytes or None
        At the root, the data of all ranks, joined in their order; None elsewhere, and where only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or has data of another size.
    Unfit
        If the rank has no data.
    """
    parameters = _parameters_json(root=root, algorithm=algorithm, sizes=_sizes(sizes))
    return await _one("gather", parameters, (data, size), endpoint)


async def scatter(
    endpoint: "Endpoint | Group",
    data: "Buffer | Sequence[Buffer | str] | None" = None,
    *,
    size: int | str | None = None,
    sizes: "Sequence[int | str] | None" = None,
    root: int = 0,
    algorithm: str | None = None,
) -> bytes | None:
    """Bring a block of one rank's data to each rank. Every rank has to await it.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data
        At the root a list with a block for each rank, or all blocks joined: of the same size, unless there are `sizes`. None elsewhere.
    size
        At the root the size of all blocks together, in place of data. [B]
    sizes
        The size of each rank's block, in order, the same list at every rank. [B]
    root
        The rank that has the data.
    algorithm
        The algorithm, such as ``"linear"``, which lets sizes differ without `sizes`; ``maquette run scatter --help`` lists them.

    Returns
    -------
    bytes or None
        The rank's block; None if only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or the blocks have other sizes.
    Unfit
        If the root has no data, or not a block for each rank.
    """
    parameters = _parameters_json(root=root, algorithm=algorithm, sizes=_sizes(sizes))
    is_list = isinstance(data, (list, tuple))
    if endpoint.rank != root or (data is None and size is None):
        messages: list[tuple[Any, int | str | None]] = []
    elif is_list:
        messages = [(block, None) for block in data]  # type: ignore[union-attr]
    else:
        messages = [(data, size)]
    block: bytes | None = await ask((_COLLECTIVE, "scatter", parameters, messages, endpoint.members))
    return block


async def all_gather(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    *,
    size: int | str | None = None,
    sizes: "Sequence[int | str] | None" = None,
    algorithm: str | None = None,
) -> bytes | None:
    """Bring the data of all ranks to all of them. Every rank has to await it.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size
        The rank's data, as in `Endpoint.send`: of the same size at every rank, unless there are `sizes`.
    sizes
        The size of each rank's data, in order, the same list at every rank. [B]
    algorithm
        The algorithm, such as ``"ring"``; ``maquette run all-gather --help`` lists them; by default as MPICH chooses by size.

    Returns
    -------
    bytes or None
        The data of all ranks, joined in their order; None if only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or has data of another size.
    Unfit
        If the rank has no data.
    """
    parameters = _parameters_json(algorithm=algorithm, sizes=_sizes(sizes))
    return await _one("all-gather", parameters, (data, size), endpoint)


async def reduce(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    operator: str = "sum",
    *,
    size: int | str | None = None,
    root: int = 0,
    algorithm: str | None = None,
) -> bytes | None:
    """Combine the data of all ranks at one of them. Every rank has to await it, with data of the same size.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size, operator
        As in `all_reduce`.
    root
        The rank that ends with the result.
    algorithm
        The algorithm, such as ``"binomial"``; ``maquette run reduce --help`` lists them.

    Returns
    -------
    bytes or None
        At the root, the result; None elsewhere, and where only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or has data of another size.
    Unfit
        If the data are not a whole number of elements.
    """
    parameters = _parameters_json(root=root, algorithm=algorithm, operator=_operator(operator, data))
    return await _one("reduce", parameters, (data, size), endpoint)


async def reduce_scatter(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    operator: str = "sum",
    *,
    size: int | str | None = None,
    sizes: "Sequence[int | str] | None" = None,
    algorithm: str | None = None,
) -> bytes | None:
    """Combine the data of all ranks, and give each rank its block of the result. Every rank has to await it.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size, operator
        As in `all_reduce`: the blocks for all ranks joined in their order, of the same size, unless there are `sizes`.
    sizes
        The size of each rank's block, in order, the same list at every rank. [B]
    algorithm
        The algorithm, such as ``"ring"``; ``maquette run reduce-scatter --help`` lists them; by default as MPICH chooses by size.

    Returns
    -------
    bytes or None
        The rank's block of the result; None if only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or has data of another size.
    Unfit
        If the data are not a block of whole elements for each rank.
    """
    parameters = _parameters_json(algorithm=algorithm, operator=_operator(operator, data), sizes=_sizes(sizes))
    return await _one("reduce-scatter", parameters, (data, size), endpoint)


async def scan(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    operator: str = "sum",
    *,
    size: int | str | None = None,
    algorithm: str | None = None,
) -> bytes | None:
    """Combine at every rank the data of all ranks up to it. Every rank has to await it, with data of the same size.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size, operator
        As in `all_reduce`.
    algorithm
        The algorithm, such as ``"linear"``; ``maquette run scan --help`` lists them; by default recursive-doubling.

    Returns
    -------
    bytes or None
        The combination of the data of ranks 0 to this one; None if only sizes were sent.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is allowed.
    Mismatch
        If another rank calls something else in its place, or has data of another size.
    Unfit
        If the data are not a whole number of elements.
    """
    parameters = _parameters_json(algorithm=algorithm, operator=_operator(operator, data))
    return await _one("scan", parameters, (data, size), endpoint)


async def exscan(
    endpoint: "Endpoint | Group",
    data: "Buffer | str | None" = None,
    operator: str = "sum",
    *,
    size: int | str | None = None,
    algorithm: str | None = None,
) -> bytes | None:
    """Combine at every rank the data of all ranks before it. Every rank has to await it, with data of the same size.

    Parameters
    ----------
    endpoint
        The rank's endpoint, or a group: then the ranks of the group take part, and places in it stand for ranks.
    data, size, operator, algorithm
        As in `scan`.

    Returns
    -------
    bytes or None
        The combination of the data of the ranks before this one; None at rank 0, and if only sizes were sent.

    Raises
    ------
    TypeError, ValueError, Mismatch, Unfit
        As in `scan`.
    """
    parameters = _parameters_json(algorithm=algorithm, operator=_operator(operator, data))
    return await _one("exscan", parameters, (data, size), endpoint)


async def _one(
    name: str, parameters: str, message: "tuple[Buffer | str | None, int | str | None]", endpoint: "Endpoint | Group"
) -> bytes | None:
    """Take part in a collective with one message; what the rank ends with."""
    ended: bytes | None = await ask((_COLLECTIVE, name, parameters, [message], endpoint.members))
    return ended


def _sizes(sizes: "Sequence[int | str] | None") -> tuple[int | str, ...] | None:
    """Sizes as a parameter: what can be compared and hashed."""
    if sizes is None:
        return None
    if isinstance(sizes, (str, bytes)) or not hasattr(sizes, "__iter__"):
        raise TypeError(f"sizes: found {sizes!r}; allowed is a list with a size for each rank")
    return tuple(sizes)


def _parameters_json(**parameters: Any) -> str:
    """The parameters that were set, as JSON."""
    return _as_json(tuple((name, value) for name, value in parameters.items() if value is not None))


@functools.lru_cache(maxsize=256)
def _as_json(parameters: tuple[tuple[str, Any], ...]) -> str:
    texts = {name: str(value) if name in ("lambda", "alpha") else value for name, value in parameters}
    return json.dumps(texts)


def _operator(operator: str, data: object) -> str:
    """The operator, with the number type of `data` if it does not name one."""
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
