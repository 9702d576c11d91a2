"""Machines from graphs of networkx, and graphs of machines."""

from typing import Any

import pytest

import maquette as mq

nx = pytest.importorskip("networkx")

SETTINGS: dict[str, Any] = {
    "channels": {"rate": "100 MB/s", "buffers": 4},
    "routers": {"routing_delay": "50 ns"},
    "packet": {"payload": "128 B", "header": "2 B", "flit": "1 B"},
    "routing": {"rule": "up-down"},
}


def test_a_machine_is_made_from_a_graph() -> None:
    graph = nx.petersen_graph()
    machine = mq.Machine.from_networkx(graph, SETTINGS)
    assert (machine.nodes, machine.name) == (10, "Petersen Graph")
    run = mq.run("all-to-all", machine, bytes=64)
    assert run.message_count == 90 and run.makespan_ps > 0
    assert {router["name"] for router in machine.facts()["network"]["routers"]} == {str(vertex) for vertex in graph}


def test_attributes_of_vertices_and_edges_are_used() -> None:
    graph = nx.MultiGraph(name="two")
    graph.add_node("left", nodes=3, pos=(0, 1), colour="red")
    graph.add_node("right", nodes=0)
    graph.add_edge("left", "right", wire_latency="7 ns", weight=3)
    graph.add_edge("left", "right", rate="1 GB/s", buffers=9)
    machine = mq.Machine.from_networkx(graph, SETTINGS, set={"channels.rate": "50 MB/s"})
    assert machine.nodes == 3
    between = [each for each in machine.facts()["network"]["channels"] if "router" in each["from"] and "router" in each["to"]]
    assert sorted(each["wire_latency_ps"] for each in between) == [0, 0, 7000, 7000]
    assert sorted(each["buffer_slots"] for each in between) == [4, 4, 9, 9]


@pytest.mark.parametrize("preset", ["moc-2-1", "torus-512", "cm5-32"])
def test_a_graph_is_made_from_a_machine(preset: str) -> None:
    machine = mq.Machine(preset)
    graph, network = machine.to_networkx(), machine.facts()["network"]
    assert graph.number_of_edges() == len(network["channels"])
    kinds = [data["kind"] for _, data in graph.nodes(data=True)]
    assert (kinds.count("node"), kinds.count("router")) == (machine.nodes, len(network["routers"]))
    assert nx.is_strongly_connected(graph)
    keys = {key: data["flit_time_ps"] for _, _, key, data in graph.edges(keys=True, data=True)}
    assert keys == {channel["id"]: channel["flit_time_ps"] for channel in network["channels"]}


def test_the_graph_of_a_machine_is_the_graph_that_it_was_made_from() -> None:
    graph = nx.random_regular_graph(3, 12, seed=1)
    machine = mq.Machine.from_networkx(graph, SETTINGS)
    routers = nx.Graph(machine.to_networkx().subgraph(str(vertex) for vertex in graph))
    assert nx.utils.graphs_equal(nx.Graph(routers.edges()), nx.Graph((str(a), str(b)) for a, b in graph.edges()))


def test_wrong_graphs_are_reported() -> None:
    ring = {**SETTINGS, "routing": {"rule": "shortest-path"}}
    cases = [
        (nx.DiGraph([("a", "b")]), SETTINGS, "graph: found one with directed edges; allowed is an undirected one"),
        (nx.Graph([("a", "b"), ("c", "d")]), SETTINGS, "graph: found no path from a to c; allowed is a connected graph"),
        (nx.Graph(), SETTINGS, "graph: found no vertices"),
        (nx.Graph([(1, "1")]), SETTINGS, "graph: found two vertices called `1`"),
        (nx.Graph([("a", "a"), ("a", "b")]), SETTINGS, "two different routers"),
        (nx.path_graph(3), {**SETTINGS, "topology": {}}, "description: found a topology, which the graph is already"),
        (nx.cycle_graph(6), ring, "deadlock"),
    ]
    for graph, description, expected in cases:
        with pytest.raises(ValueError) as caught:
            mq.Machine.from_networkx(graph, description)
        assert expected in str(caught.value)
    with pytest.raises(ValueError, match="loggp has no network of routers"):
        mq.Machine("loggp").to_networkx()
