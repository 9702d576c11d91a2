"""Measure the collectives of an MPI program by a measured plan beside those of its library: 40 cases, as the OSU micro-benchmarks time them.

    .venv/bin/python tests/bench/collectives.py [--turns N]

Four collectives of five sizes, on two and on four ranks. `maquette plan collectives --measure` makes the plan; then the program runs without
and with it, in turns. A ratio is the median over the turns of the time with the plan over the time without; above 1.05 a call is slower than it
may be.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent
MAQUETTE = BIN / "maquette"
RANKS = (2, 4)
SLOWEST = 1.05
"""The largest ratio that is allowed."""
MILLISECONDS = 15
"""How long the calls of a case take in each turn."""

Case = tuple[str, int]
"""A collective, and the size of its messages."""


def compiled(folder: Path) -> Path | None:
    """The benchmark, compiled for the standard ABI of MPI; None without a compiler or a library."""
    compiler, lib = shutil.which("gcc"), BIN.parent / "lib"
    if compiler is None or not (BIN / "mpiexec").exists():
        return None
    source, program = Path(__file__).with_suffix(".c"), folder / "collectives"
    arguments: list[Path | str] = ["-O2", "-DMPI_ABI", f"-I{BIN.parent / 'include'}", source, "-o", program, f"-L{lib}", "-lmpi_abi"]
    subprocess.run([compiler, *arguments, f"-Wl,-rpath,{lib}"], check=True, timeout=120)
    return program


def times(command: list[Path | str]) -> dict[Case, float]:
    """The time of each case. [us]"""
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    lines = [line.split() for line in printed.splitlines()]
    return {(words[0], int(words[1])): float(words[2]) for words in lines if len(words) == 3 and words[1].isdigit() and "." in words[2]}


def ratios(program: Path, folder: Path, ranks: int, turns: int) -> dict[Case, tuple[float, float]]:
    """For each case, the library's time, and the ratio."""
    plan = folder / f"{ranks}.toml"
    start: list[Path | str] = [BIN / "mpiexec", "-n", str(ranks)]
    subprocess.run([*start, MAQUETTE, "plan", "collectives", "--measure", "--write", plan], check=True, timeout=1800, stdout=subprocess.DEVNULL)
    run: list[Path | str] = [*start, program, str(MILLISECONDS)]
    planned: list[Path | str] = [MAQUETTE, "collectives", "--plan", plan, "--", *run]
    alone: list[dict[Case, float]] = []
    by_plan: list[dict[Case, float]] = []
    for turn in range(turns):
        for of in (alone, by_plan) if turn % 2 == 0 else (by_plan, alone):
            of.append(times(run if of is alone else planned))
    median_of_ratios = {case: statistics.median(b[case] / a[case] for a, b in zip(alone, by_plan, strict=True)) for case in alone[0]}
    return {case: (statistics.median(a[case] for a in alone), ratio) for case, ratio in median_of_ratios.items()}


def main() -> None:
    """Measure all cases, print each, and how many are slower than allowed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=11, help="how often each program is run")
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as temporary:
        program = compiled(Path(temporary))
        if program is None:
            print("gcc or an MPI library is not installed: planned collectives were not measured", flush=True)
            return
        found = {(ranks, case): it for ranks in RANKS for case, it in ratios(program, Path(temporary), ranks, turns).items()}
    for (ranks, (name, size)), (library, ratio) in found.items():
        note = "" if ratio <= SLOWEST else f"  above {SLOWEST}"
        print(f"{name:12} {ranks} ranks {size:8,} B  library {library:10,.2f} us  by plan {ratio:6.3f} times{note}", flush=True)
    slower = sum(ratio > SLOWEST for _, ratio in found.values())
    mean = statistics.geometric_mean(ratio for _, ratio in found.values())
    print(f"measured plans: {len(found)} cases, {slower} above {SLOWEST}, {mean:.3f} times the library's time in the geometric mean", flush=True)


if __name__ == "__main__":
    main()
