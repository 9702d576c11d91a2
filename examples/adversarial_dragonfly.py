"""
A dragonfly whose groups all send to one neighbour
==================================================

In a dragonfly any two groups are joined by a single channel each way. Uniform traffic spreads over all of them. But let every node send to
one that is half-way round the machine (*tornado*), and the eight nodes of a group share two channels: by shortest paths, the network
accepts two eighths of what is offered, however much that is. Valiant's remedy sends each packet first to a group drawn at random: it
uses twice the channels, but all pairs of groups fare alike.
"""

import matplotlib.pyplot as plt

import maquette as mq


def dragonfly(rule: str, virtual_channels: int) -> mq.Machine:
    """A small dragonfly, balanced as in the paper of Kim, Dally, Scott and Abts: 9 groups of 4 routers with 2 nodes and 2 global channels."""
    fields = {"nodes": 2, "routers": 4, "global_links": 2, "groups": 9}
    settings = {f"topology.dragonfly.{name}": value for name, value in fields.items()}
    return mq.Machine("slingshot-1024", set={**settings, "routing.rule": rule, "channels.virtual_channels": virtual_channels})


# %%
# Detours through another group need a third virtual channel, or packets could wait for each other in a cycle. (With two, the machine is
# refused, with the channels of that cycle.)

machines = {"minimal": dragonfly("minimal", 2), "valiant": dragonfly("valiant", 3)}
rates = [0.1, 0.2, 0.3, 0.45, 0.6, 0.8]
accepted = {
    (rule, pattern): [mq.traffic(machine, rate, pattern=pattern, warm_up=1000, measure=2500).accepted for rate in rates]
    for rule, machine in machines.items()
    for pattern in ["uniform", "tornado"]
}

# %%
# Accepted over offered traffic. Where a line leaves the diagonal the network saturates.

figure, axes = plt.subplots()
for (rule, pattern), arrived in accepted.items():
    axes.plot(rates, arrived, "o-" if pattern == "uniform" else "s--", label=f"{pattern}, {rule} routing")
axes.axline((0, 0), slope=1, color="grey", linewidth=0.5)
axes.set(xlabel="offered [flits/node/cycle]", ylabel="accepted [flits/node/cycle]", title="A dragonfly of 72 nodes")
axes.legend()

best = {name: max(arrived) for name, arrived in accepted.items()}
print({f"{pattern}, {rule}": round(most, 3) for (rule, pattern), most in best.items()})

assert abs(best["minimal", "tornado"] - 2 / 8) < 0.03
assert best["valiant", "tornado"] > 1.3 * best["minimal", "tornado"]
assert best["valiant", "uniform"] < best["minimal", "uniform"]
plt.show()
