"""
A sweep on dask
===============

Which placement of a job is the best, for which message size, and does that depend on luck? That is a sweep: an experiment with all
combinations of some values. Here it runs on the workers of a dask cluster; ``client`` could as well be that of a thousand cores elsewhere.
The table is the same as on one core.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas  # type: ignore[import-untyped]
from distributed import Client, SubprocessCluster

import maquette as mq

# %%
# The experiment, in the form that ``maquette run`` reads from a file, and the values over which it is swept.

experiment = {
    "machine": {"name": "infiniband-128"},
    "job": [{"ranks": 32, "program": {"all-to-all": {"algorithm": "pairwise"}}}],
}
sizes = [256, 1024, 4096, 16384]
over: dict[str, Sequence[int | str]] = {
    "placement": ["in-order", "scattered-switches", "random"],
    "bytes": sizes,
    "seed": range(1, 6),
}

# %%
# Two workers, each a separate process. Points are handed out in tasks of a tenth of a second, since a task costs dask a millisecond.

workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
with SubprocessCluster(**workers) as cluster, Client(cluster) as client:  # type: ignore[arg-type, no-untyped-call]
    sweep = mq.sweep(experiment, over, executor=client)
print(sweep)

# %%
# Its table speaks Arrow, which pandas, polars and DuckDB read.

table = pandas.DataFrame.from_arrow(sweep.table)
table["us"] = table["makespan_ps"] / 1e6
times = table.groupby(["placement", "bytes"], sort=False)["us"].agg(["min", "median", "max"])
print(times.round(1))

figure, axes = plt.subplots()
for placement, rows in times.groupby(level="placement", sort=False):
    median = rows["median"].to_numpy()
    spread = [median - rows["min"].to_numpy(), rows["max"].to_numpy() - median]
    axes.errorbar(sizes, median, spread, marker=".", capsize=3, label=placement)
axes.set(xscale="log", yscale="log", xlabel="bytes from each to each", ylabel="time [us]", title="All-to-all of 32 ranks of 128")
axes.legend()

# %%
# Ranks in order fill two switches, and half of their messages stay below one. Scattered or at random nearly all go through the spine: then luck
# in placement costs some percent, and more for larger messages.

assert sweep.table.to_dict() == mq.sweep(experiment, over).table.to_dict()
assert (times.loc["in-order", "max"] < times.loc["random", "min"]).all()
plt.show()
