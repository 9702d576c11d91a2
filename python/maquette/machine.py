"""Machines: presets, files, descriptions."""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from maquette import _maquette

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]


class Machine:
    """A simulated machine.

    Parameters
    ----------
    description
        A preset such as ``"infiniband-128"`` (``maquette machines`` lists them); the path of a description, which has a ``/`` in
        it or ends in ``.toml``; or the fields of a description.
    set
        Fields of the description to set to other values, in this order, by their paths or, for common ones, by their short names:
        ``{"channels.buffers": 64, "rate": "20 MB/s"}``.

    Attributes
    ----------
    name : str
        Its name.
    about : str
        A one-line description.
    nodes : int
        The number of nodes.

    Raises
    ------
    ValueError
        If there is no such preset, or something in the description is not allowed: with the line, what was found, what is
        allowed, and the name that was probably meant.
    OSError
        If the file cannot be read.
    """

    def __init__(
        self,
        description: str | os.PathLike[str] | Mapping[str, Any],
        *,
        set: Mapping[str, str | int | float | bool] | None = None,  # noqa: A002
    ) -> None:
        choice: dict[str, Any] = {"set": [f"{field}={_written(value)}" for field, value in (set or {}).items()]}
        if isinstance(description, Mapping):
            choice["description"] = description
        else:
            choice["name"] = _name(description)
        self._machine = _maquette.Machine.load(json.dumps(choice))

    @classmethod
    def from_networkx(
        cls,
        graph: "networkx.Graph[Any]",
        description: Mapping[str, Any],
        *,
        set: Mapping[str, str | int | float | bool] | None = None,  # noqa: A002
    ) -> "Machine":
        """The machine whose routers and links are the vertices and edges of a graph.

        Parameters
        ----------
        graph
            An undirected, connected networkx graph. A vertex is a router; its attribute ``nodes`` says how many nodes it has (one by
            default), ``pos`` where it is drawn. An edge is a channel each way; its attributes ``rate``, ``flit_time``, ``wire_latency``,
            ``credit_latency`` and ``buffers`` say how it differs from other channels. Other attributes are ignored.
        description
            All other fields of a description: ``channels``, ``routers``, ``packet``, ``node``, ``routing`` and so on.
        set
            As for any machine.

        Returns
        -------
        Machine
            The machine; its routers are named after the vertices.

        Raises
        ------
        ValueError
            If the graph is directed or disconnected, if packets could deadlock with the chosen routing, or if
            something in the description is not allowed.
        """
        from maquette.graphs import description_of

        return cls(description_of(graph, description), set=set)

    def to_networkx(self) -> "networkx.MultiDiGraph[str]":
        """Its network as a networkx graph.

        Returns
        -------
        networkx.MultiDiGraph
            A vertex for each router, by its name, and for each node, ``"node 0"`` and so on, with attributes ``kind`` and ``id``. An edge
            for each channel, by its id, with its fields in ``facts()["network"]["channels"]``: times in picoseconds, with the unit in the name.

        Raises
        ------
        ValueError
            If it has no network of routers.
        """
        from maquette.graphs import to_networkx

        return to_networkx(self.facts())

    @property
    def name(self) -> str:
        """Its name."""
        return self._machine.name

    @property
    def about(self) -> str:
        """A one-line description."""
        return self._machine.about

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self._machine.nodes

    def facts(self) -> dict[str, Any]:
        """Everything that is known about it.

        Returns
        -------
        dict
            What the command ``maquette machine NAME --json`` prints: each channel and router, and all costs. Times are in
            picoseconds, with the unit in the name.
        """
        facts: dict[str, Any] = json.loads(self._machine.json())
        return facts

    def _repr_html_(self) -> str:
        """The machine with a map, for a notebook."""
        from maquette.showing import frame

        return frame(self._machine.html(), 420)

    def __repr__(self) -> str:
        return f"<maquette.Machine {self.name}: {self.nodes} nodes; {self.about}>"


def _name(description: str | os.PathLike[str]) -> str:
    """The name or path as it is looked up: a path stays a path."""
    if isinstance(description, str):
        return description
    path = os.fspath(description)
    return path if "/" in path else f"./{path}"


def _written(value: str | float) -> str:
    """A value as it is written after ``FIELD=``."""
    return str(value).lower() if isinstance(value, bool) else str(value)
