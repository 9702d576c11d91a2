"""
Ring or recursive doubling?
===========================

An all-reduce by recursive doubling has few rounds, log2 n, and sends all the data in each of them. A ring has many, 2 (n - 1), and sends
only an n-th of the data in each. So the first wins while messages are small and rounds count, the second where bytes count. Where they
cross depends on the machine: that is what a model is for.
"""

import matplotlib.pyplot as plt

import maquette as mq

machine = mq.Machine("infiniband-128")
sizes = [2**power for power in range(6, 23)]
times_us = {
    algorithm: [mq.run("all-reduce", machine, ranks=64, algorithm=algorithm, bytes=size).makespan_ps / 1e6 for size in sizes]
    for algorithm in ["recursive-doubling", "ring", "rabenseifner"]
}

# %%
# Rabenseifner's algorithm halves the data from round to round: few rounds *and* few bytes. On 64 ranks of a fat tree it leaves no size
# at which the ring is best. The step in each line is where messages exceed 16 KiB: from then on a sender asks its receiver first. The ring, whose
# messages are a 64th of the data, is the last to get there.

figure, axes = plt.subplots()
for algorithm, times in times_us.items():
    axes.loglog(sizes, times, marker=".", label=algorithm)
axes.set(xlabel="bytes of each rank", ylabel="time [us]", title="All-reduce on 64 nodes of an InfiniBand fat tree")
axes.legend()

# %%
# The crossing is the size from which the ring stays in front of doubling.

ring, doubling = times_us["ring"], times_us["recursive-doubling"]
crossing = next(size for size, one, other in zip(sizes, ring, doubling, strict=True) if one < other)
print(f"From {crossing // 1024} KiB on, the ring is quicker than recursive doubling.")

assert doubling[0] < ring[0] / 10 and ring[-1] < 0.75 * doubling[-1]
assert all(one < other for one, other in zip(times_us["rabenseifner"][8:], ring[8:], strict=True))
plt.show()
