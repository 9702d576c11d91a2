"""
Fit a machine to measured times
===============================

A model is worth what it predicts. Here are ten times such as one measures on a cluster. Three costs of the LogGP model are fitted to half of
them: overhead of a message (o), latency (L), time of a byte (G). The others are held back, and show what the model is worth.
"""

import matplotlib.pyplot as plt

import maquette as mq

#: program, algorithm, ranks, bytes, time, held back
measured = [
    ("one-way", "", 2, "8 B", "14.1 us", "no"),
    ("one-way", "", 2, "1 KiB", "16.0 us", "yes"),
    ("one-way", "", 2, "16 KiB", "47.2 us", "no"),
    ("one-way", "", 2, "64 KiB", "145 us", "yes"),
    ("all-to-all", "pairwise", 16, "256 B", "220 us", "yes"),
    ("all-to-all", "pairwise", 16, "4 KiB", "334 us", "no"),
    ("broadcast", "linear", 16, "64 B", "83.7 us", "no"),
    ("broadcast", "linear", 32, "64 B", "166 us", "yes"),
    ("broadcast", "binomial", 32, "64 B", "70.6 us", "yes"),
    ("broadcast", "linear", 32, "16 KiB", "1.121 ms", "no"),
]
columns = ["program", "algorithm", "ranks", "bytes", "time", "held"]
fitted = mq.calibrate(
    "loggp",
    [dict(zip(columns, row, strict=True)) for row in measured],
    fit={"o": ("100 ns", "100 us"), "L": ("100 ns", "100 us"), "G": ("100 ps", "100 ns")},
)
for parameter in fitted.parameters:
    print(f"{parameter.field} = {parameter.value}, +- {parameter.confidence_95} (before: {parameter.before})")

# %%
# The fitted points lie on the line, as they should. The news is that the open ones do, too: the fit has never seen them.

figure, axes = plt.subplots()
for held, label, inside in [(False, "fitted to", "C0"), (True, "held back", "none")]:
    times = [time for time in fitted.times if time.held == held]
    measured_us, simulated_us = ([getattr(time, name) / 1e6 for time in times] for name in ("measured_ps", "simulated_ps"))
    axes.scatter(measured_us, simulated_us, label=label, edgecolors="C0", facecolors=inside)
axes.axline((10, 10), (1000, 1000), color="grey", linewidth=0.5)
axes.set(xscale="log", yscale="log", xlabel="measured [us]", ylabel="simulated [us]", title="LogGP, fitted to five times of ten")
axes.legend()

# %%
# ``fitted.machine`` is the machine with these values: ask it about things that were not measured.

(run, untuned) = (mq.run("all-reduce", machine, ranks=32, bytes="64 KiB") for machine in (fitted.machine, "loggp"))
print(f"An all-reduce of 64 KiB on 32 ranks would take {run.makespan_ps / 1e6:.0f} us; before the fit, {untuned.makespan_ps / 1e6:.0f} us.")

held_back = fitted.mean_absolute_error_held
assert held_back is not None and held_back < 0.03
plt.show()
