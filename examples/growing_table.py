"""
A hash table that grows while it is used
========================================

LH*LH spreads a hash table over servers, and adds one when they fill up. No client is told: a request that reaches the wrong server is
forwarded, and its client learns from the answer. So splits cause no pause, and clients with an outdated image cost only a few
messages more than those that know everything.
"""

import matplotlib.pyplot as plt

import maquette as mq

# %%
# Five clients insert 20,000 random keys on a Parsytec CC, with one server at first and eleven at most.

run = mq.run("linear-hash", "parsytec-cc-16", clients=5, random_keys=20_000)
splits = run.found["splits"]
course = run.found["build"]["course"]

# %%
# The slope of the upper curve is the rate of inserts. Each new server makes the table faster, until the clients themselves are the
# bottleneck: then more servers only add room.

seconds = [point["at_ps"] / 1e12 for point in course]
figure, (above, below) = plt.subplots(2, 1, sharex=True, height_ratios=[2, 1])
above.plot(seconds, [point["inserts"] for point in course])
above.set(ylabel="inserts", title="20,000 inserts by five clients")
for split in splits:
    above.axvline(split["at_ps"] / 1e12, color="C1", linewidth=0.7)
below.step([0.0, *(split["at_ps"] / 1e12 for split in splits), seconds[-1]], [*range(1, len(splits) + 2), len(splits) + 1], "C1", where="post")
below.set(xlabel="time [s]", ylabel="servers")

# %%
# The clients' ignorance cost them next to nothing: LH* guarantees that no request is forwarded more than twice.

forwards, messages = run.found["forwards"], run.found["messages_per_insert"]["mean"]
print(f"{forwards['all']} of 20,000 inserts were forwarded; an insert took {messages:.3f} messages, two of which it needs in any case.")

quarter = len(course) // 4
slow, quick = ((part[-1]["inserts"] - part[0]["inserts"]) / (part[-1]["at_ps"] - part[0]["at_ps"]) for part in (course[:quarter], course[-quarter:]))
print(f"In the last quarter it took in {quick / slow:.1f} times as many a second as in the first.")
assert len(splits) == 10 and forwards["most_of_one"] <= 2 and messages < 2.02
assert quick > 1.2 * slow
plt.show()
