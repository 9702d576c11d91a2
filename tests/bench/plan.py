"""How good the picks of the planner are: twenty questions, each planned within the usual budget and then run exhaustively.

    .venv/bin/python tests/bench/plan.py [--questions N]

For each question: how long the plan took, on all cores; what it picked, and how that is known; and its regret, by how much the pick takes longer
than the best of all algorithms, all of which are run to their end (some minutes for the largest). The installed package is measured: `make
bench` installs a release build. Nothing fails where a figure is missed; the last line says how many are.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MAQUETTE = Path(sys.executable).with_name("maquette")
#: No pick should take more than this longer than the best. [%]
REGRET = 5.0
#: No plan should take longer. [s]
SECONDS = 20.0

#: The questions: collective, machine, ranks, size; the last ones have most messages.
QUESTIONS = [
    ("broadcast", "delta", 512, "64 KiB"),
    ("broadcast", "infiniband-128", 128, "1 MiB"),
    ("broadcast", "torus-512", 512, "64 KiB"),
    ("broadcast", "fat-tree-1024", 1024, "4 KiB"),
    ("broadcast", "slingshot-1024", 1024, "64 KiB"),
    ("broadcast", "cm5-256", 256, "4 KiB"),
    ("broadcast", "mpich-tcp-8", 8, "1 MiB"),
    ("all-reduce", "delta", 256, "16 KiB"),
    ("all-reduce", "infiniband-128", 128, "1 MiB"),
    ("all-reduce", "torus-512", 512, "64 KiB"),
    ("all-reduce", "slingshot-1024", 1024, "1 MiB"),
    ("all-reduce", "ethernet-128", 128, "256 KiB"),
    ("all-reduce", "moc-3-2", 64, "4 KiB"),
    ("all-to-all", "cm5-32", 32, "4 KiB"),
    ("all-to-all", "infiniband-128", 128, "16 KiB"),
    ("all-to-all", "ethernet-128", 128, "1 KiB"),
    ("all-to-all", "torus-512", 512, "64 B"),
    ("all-to-all", "booksim-mesh-8x8", 64, "1 KiB"),
    ("all-to-all", "fat-tree-1024", 256, "4 KiB"),
    ("all-to-all", "slingshot-1024", 512, "4 KiB"),
]


def plan(question: tuple[str, str, int, str], *options: str) -> tuple[dict[str, Any], float]:
    """The plan of a question, and how long it took. [s]"""
    collective, machine, ranks, size = question
    command: list[Path | str] = [MAQUETTE, "plan", collective, "--machine", machine, "--ranks", str(ranks), "--bytes", size, "--json", *options]
    began = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), time.perf_counter() - began


def main() -> None:
    """Prints a row for each question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), metavar="N", help="only the first N")
    missed = 0
    print(f"{'question':46} {'pick':36} {'known':12} {'s':>6} {'regret':>8}")
    for question in QUESTIONS[: parser.parse_args().questions]:
        picked, seconds = plan(question)
        pick = picked["algorithms"][0]
        times = {each["algorithm"]: each["time_ps"] for each in plan(question, "--exhaustive")[0]["algorithms"]}
        regret = 100 * (times[pick["algorithm"]] / min(times.values()) - 1)
        is_missed = regret > REGRET or seconds > SECONDS or picked["verdict"] == "undecided"
        missed += is_missed
        text = f"{question[0]} of {question[3]}, {question[2]} of {question[1]}"
        known = picked["verdict"].removeprefix("quickest-")
        print(f"{text:46} {pick['algorithm']:36} {known:12} {seconds:6.1f} {regret:7.2f}%{'  MISSED' if is_missed else ''}", flush=True)
    print(f"at most {REGRET:g}% and {SECONDS:g} s, decided: {missed} missed")


if __name__ == "__main__":
    main()
