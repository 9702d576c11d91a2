"""
Hot spots, as they grow and melt
================================

All ranks of a mesh report to one. It can take in one message at a time, so the others wait, and in a wormhole network they wait *in the
network*: each packet holds the channels that it has come through, and any packet that needs these waits, too, wherever it is bound. The jam
grows backwards from the hot spot and catches unrelated messages. Pfister and Norton called this *tree saturation* (1985).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.artist import Artist
from numpy.typing import NDArray

import maquette as mq

HOT = 27
FROM, TO = 0, 7


async def report(endpoint: mq.Endpoint, to_one: bool) -> int:
    """Send 512 B to the hot spot, if asked to. Two ranks do something else: one sends the other 64 B. Returns when a rank is done. [ps]"""
    if endpoint.rank == FROM:
        await endpoint.send(TO, size=64)
    elif endpoint.rank == TO:
        await endpoint.receive(FROM)
    elif to_one and endpoint.rank == HOT:
        for _ in range(endpoint.size - 3):
            await endpoint.receive()
    elif to_one:
        await endpoint.send(HOT, size=512)
    return endpoint.now_ps


# %%
# The packet log says for each packet and each channel of its route when the packet asked for the channel, and when it got it. In between its
# header waits, at the router from which the channel leads.

machine = mq.Machine("booksim-mesh-8x8")
run = mq.run(report, machine, to_one=True, record=["packets"])
channels = machine.facts()["network"]["channels"]
packets = run.packets.to_dict()
waits = [
    (channels[channel]["from"]["router"], asked, granted)
    for way, asked_for, granted_at in zip(packets["channels"], packets["requested_ps"], packets["granted_ps"], strict=True)
    for channel, asked, granted in zip(way, asked_for, granted_at, strict=True)
    if "router" in channels[channel]["from"] and granted > asked
]


def waiting(time_ps: float) -> NDArray[np.int64]:
    """How many headers wait at each router."""
    routers = [router for router, asked, granted in waits if asked <= time_ps < granted]
    return np.bincount(routers, minlength=64).reshape(8, 8)


# %%
# Packets go along their row first, then along the column of the hot spot (the star): so the column fills, and then the rows that lead to it.

figure, axes = plt.subplots()
picture = axes.imshow(waiting(0), cmap="inferno", vmin=0, vmax=3, origin="lower")
figure.colorbar(picture, label="headers that wait")
axes.plot(HOT % 8, HOT // 8, "c*", markersize=12)


def draw(frame: int) -> list[Artist]:
    time_ps = frame / 60 * run.makespan_ps
    picture.set_data(waiting(time_ps))
    axes.set_title(f"{time_ps / 1e6:.1f} us")
    return [picture]


animation = FuncAnimation(figure, draw, frames=60, interval=100)

# %%
# The message from corner to corner along the first row has nothing to do with the hot spot, three rows away, and yet it is late.

alone = mq.run(report, machine, to_one=False)
print(f"64 B along the first row: {alone.returned[TO] / 1e3:.0f} ns alone, {run.returned[TO] / 1e3:.0f} ns beside the hot spot")
assert run.returned[TO] > 10 * alone.returned[TO]
plt.show()
