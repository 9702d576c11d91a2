"""
The exchange of a sparse matrix
===============================

To multiply a sparse matrix by a vector, each rank needs those elements of the vector in whose columns its rows have non-zeros. Which rank
needs how much from which other follows from the matrix, and is irregular. A schedule assigns each message to a step, so that no rank takes
part in two at once. This example shows how much the order of the messages matters, and the order of the rows.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import maquette as mq

RANKS, SIDE = 32, 64
random = np.random.default_rng(seed=1)

# %%
# The matrix is that of a five-point stencil on a square, with some long-range couplings; rank r owns the r-th share of the rows.

place = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
couplings = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
edges = np.concatenate([np.stack([one.ravel(), other.ravel()], axis=1) for one, other in couplings])
hubs = random.choice(SIDE * SIDE, size=12, replace=False)
edges = np.concatenate([edges, np.stack([random.choice(hubs, 3000), random.integers(0, SIDE * SIDE, 3000)], axis=1)])
edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)


def traffic(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes that each rank sends to each other: 8 B, once, for each element that the other needs. [B]"""
    owner = order * RANKS // (SIDE * SIDE)
    needs = np.unique(np.stack([owner[edges[:, 1]], owner[edges[:, 0]], edges[:, 1]], axis=1), axis=0)
    matrix = np.zeros((RANKS, RANKS), dtype=np.int64)
    np.add.at(matrix, (needs[:, 0], needs[:, 1]), 8)
    np.fill_diagonal(matrix, 0)
    return matrix


matrices = {"rows as they come": traffic(place.ravel()), "rows at random": traffic(random.permutation(SIDE * SIDE))}

# %%
# Every algorithm makes a schedule, which is run on a CM-5 with 32 nodes, the machine for which such schedules were invented.

machine = mq.Machine("cm5-32")
times_ms: dict[str, dict[str, float]] = {}
with tempfile.TemporaryDirectory() as folder:
    for name, matrix in matrices.items():
        path = Path(folder) / "traffic.csv"
        np.savetxt(path, matrix, fmt="%d", delimiter=",")
        algorithms = ["linear", "pairwise", "greedy", "largest-first"]
        runs = {each: mq.run("all-to-all", machine, traffic=path, algorithm=each) for each in algorithms}
        times_ms[name] = {each: run.makespan_ps / 1e9 for each, run in runs.items()}

# %%
# Left, what each rank sends to each other: the hubs are lines, the stencil is the diagonal. In their natural order rows need their
# neighbours and the hubs; in random order every rank needs every other alike.

figure, all_axes = plt.subplots(1, 3, figsize=(12, 4), width_ratios=[1, 1, 1.3])
for axes, (name, matrix) in zip(all_axes, matrices.items(), strict=False):
    axes.imshow(matrix, cmap="magma_r", vmax=800)
    axes.set(title=f"{name}: {matrix.sum() / 1024:.0f} KiB", xlabel="receiver", ylabel="sender")
for place_of_bar, (name, times) in enumerate(times_ms.items()):
    all_axes[2].bar(np.arange(len(times)) + 0.4 * place_of_bar, list(times.values()), width=0.4, label=name)
all_axes[2].set_xticks(np.arange(4) + 0.2, list(times_ms["rows at random"]))
all_axes[2].set(ylabel="time [ms]", title="the exchange on a CM-5")
all_axes[2].legend()

ordered, shuffled = times_ms.values()
print({name: {each: f"{time:.2f} ms" for each, time in times.items()} for name, times in times_ms.items()})

# %%
# In ``linear`` all ranks send to rank 0 first, then to rank 1, and so on: the receiver takes them one by one, and all others wait. Any schedule
# that keeps them apart is several times as fast; among those the differences are small. Rows in a bad order mean more bytes, but on a CM-5
# messages cost more than bytes: a good schedule hardly suffers.

assert all(5 * min(times.values()) < times["linear"] for times in times_ms.values())
assert matrices["rows at random"].sum() > 1.5 * matrices["rows as they come"].sum()
plt.show()
