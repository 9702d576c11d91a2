"""Machines as networkx graphs, and the reverse."""

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]

#: The attributes of an edge that describe its link.
_LINK_ATTRIBUTES = ("rate", "flit_time", "wire_latency", "credit_latency", "buffers")


def to_networkx(facts: Mapping[str, Any]) -> "networkx.MultiDiGraph[str]":
    """The graph of a machine's network, from the machine's facts."""
    import networkx

    network = facts.get("network")
    if network is None:
        raise ValueError(f"{facts['name']} has no network of routers; allowed is a machine that has one")
    routers = [router["name"] for router in network["routers"]]
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name=facts["name"])
    for router in network["routers"]:
        graph.add_node(router["name"], **{**router, "kind": "router"})
    for node in range(facts["nodes"]):
        graph.add_node(f"node {node}", id=node, kind="node")

    def name(end: Mapping[str, int]) -> str:
        return routers[end["router"]] if "router" in end else f"node {end['node']}"

    for channel in network["channels"]:
        attributes = {key: value for key, value in channel.items() if key not in ("from", "to")}
        graph.add_edge(name(channel["from"]), name(channel["to"]), key=channel["id"], **attributes)
    return graph


def description_of(graph: "networkx.Graph[Any]", description: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a machine whose routers and links are those of a graph, as fields."""
    if "topology" in description:
        raise ValueError("description: found a topology, which the graph is already; allowed are the other fields")
    if graph.is_directed():
        raise ValueError(
            "graph: found one with directed edges; allowed is an undirected one, such as graph.to_undirected(): a link is a "
            "channel each way"
        )
    _check_connected(graph)
    names = [str(vertex) for vertex in graph]
    if len(set(names)) < len(names):
        (twice, *_) = [name for name in names if names.count(name) > 1]
        raise ValueError(f"graph: found two vertices called `{twice}`; allowed are names that differ as text")
    routers = [_router(str(vertex), data) for vertex, data in graph.nodes(data=True)]
    links = [_link(str(one), str(other), data) for one, other, data in graph.edges(data=True)]
    name = {"name": str(graph.name)} if graph.name else {}
    return {"about": _about(routers, links), **name, **description, "topology": {"graph": {"routers": routers, "links": links}}}


def _check_connected(graph: "networkx.Graph[Any]") -> None:
    import networkx

    if len(graph) == 0:
        raise ValueError("graph: found no vertices; allowed is one or more")
    parts = networkx.connected_components(graph)
    one, other = next(parts), next(parts, None)
    if other is not None:
        ends = f"{min(one, key=str)!s} to {min(other, key=str)!s}"
        raise ValueError(f"graph: found no path from {ends}; allowed is a connected graph")


def _router(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    router: dict[str, Any] = {"name": name, "nodes": operator.index(data.get("nodes", 1))}
    if "pos" in data:
        x, y = data["pos"]
        router["position"] = [float(x), float(y)]
    return router


def _link(one: str, other: str, data: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {name: data[name] for name in _LINK_ATTRIBUTES if name in data}
    return {"between": [one, other], **attributes}


def _about(routers: list[dict[str, Any]], links: list[dict[str, Any]]) -> str:
    return f"{len(routers)} routers and {len(links)} links, as in a graph"
