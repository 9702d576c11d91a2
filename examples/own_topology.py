"""
A topology of your own: a random graph against a torus
======================================================

Jellyfish (Singla, Hong, Popa and Godfrey, 2012) says: with the same switches and the same number of cables, a random graph has shorter paths
than a regular one, and so carries more. Maquette can simulate any networkx graph, so we can test whether that holds for an all-to-all
exchange.
"""

from typing import Any

import matplotlib.pyplot as plt
import networkx as nx  # type: ignore[import-untyped]

import maquette as mq

SIDE = 8
#: What all machines are made of.
PARTS: dict[str, Any] = {
    "channels": {"rate": "100 Gbit/s", "buffers": 256, "wire_latency": "100 ns", "credit_latency": "100 ns"},
    "routers": {"routing_delay": "50 ns"},
    "packet": {"payload": "2 KiB", "header": "64 B", "flit": "64 B"},
}

torus = nx.grid_2d_graph(SIDE, SIDE, periodic=True)
jellyfish = nx.random_regular_graph(4, SIDE * SIDE, seed=1)
machines = {
    "torus, up-down": mq.Machine.from_networkx(torus, {**PARTS, "routing": {"rule": "up-down"}}),
    "random graph, up-down": mq.Machine.from_networkx(jellyfish, {**PARTS, "routing": {"rule": "up-down"}}),
}

# %%
# Both have 64 routers with a node each, and 128 cables. ``up-down`` is a routing that cannot deadlock on any graph: Maquette proves that for
# every machine before it runs anything, and refuses it otherwise. But it sends much traffic through few routers. A torus has a better one,
# which goes along one dimension after another, and needs two virtual channels for the rings.

channels = {**PARTS["channels"], "virtual_channels": 2}
own_routing = {**PARTS, "channels": channels, "topology": {"torus": {"sides": [SIDE, SIDE]}}, "switching": {"mode": "virtual-cut-through"}}
machines["torus, dimension-order"] = mq.Machine(own_routing)

runs = {name: mq.run("all-to-all", machine, algorithm="pairwise", bytes="4 KiB") for name, machine in machines.items()}
for name, run in runs.items():
    print(f"{name}: all-to-all in {run.makespan_ps / 1e6:.0f} us")

# %%
# Left the random graph, right how much each channel between routers has carried, the busiest first. With the same routing the random graph
# wins, as promised. With its own routing the torus spreads its load evenly, and beats both: a topology alone, without its routing, says little.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
for name, run in runs.items():
    table = run.channels.to_dict()
    ends = zip(table["from"], table["to"], table["bytes"], strict=True)
    carried = {(one, other): amount / 1e6 for one, other, amount in ends if "node" not in one + other}
    right.plot(sorted(carried.values(), reverse=True), label=f"{name}: {run.makespan_ps / 1e6:.0f} us")
    if name.startswith("random"):
        colours = [max(carried[str(one), str(other)], carried[str(other), str(one)]) for one, other in jellyfish.edges]
        colour_map = plt.get_cmap("plasma_r")
        drawn = nx.draw_networkx_edges(jellyfish, nx.circular_layout(jellyfish), edge_color=colours, edge_cmap=colour_map, ax=left)
        figure.colorbar(drawn, ax=left, label="carried [MB]")
left.set(title="64 switches, joined at random", aspect="equal")
right.set(xlabel="channels, the busiest first", ylabel="carried [MB]", title="All-to-all, 4 KiB each")
right.legend()

distances = [nx.average_shortest_path_length(graph) for graph in (torus, jellyfish)]
print(f"Routers are {distances[0]:.2f} hops from each other on average in the torus, {distances[1]:.2f} in the random graph.")

assert distances[1] < distances[0]
in_order = sorted(runs, key=lambda name: runs[name].makespan_ps)
assert in_order == ["torus, dimension-order", "random graph, up-down", "torus, up-down"]
plt.show()
