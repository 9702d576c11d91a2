"""Fits a description to ping-pongs of miriel, and writes down what it predicts; afterwards compares that with what was measured.

    predict.py predict                  writes DATE/fitted.toml, held-out.csv and all-to-all.csv, or finds that they would be the same
    predict.py compare held-out         beside the ping-pongs that were not fitted to
    predict.py compare all-to-all       beside MPI_Alltoall on 2 to 16 nodes
"""

import csv
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
#: The command, which is run in other folders, too.
MAQUETTE = os.path.abspath(shutil.which(os.environ.get("MAQUETTE", "maquette")) or "maquette")
#: When it was predicted.
MADE = HERE / "2026-11-22"
WRITTEN = ["fitted.toml", "held-out.csv", "all-to-all.csv"]
#: From here on MPI_Send waits for its receiver, as it does with 4,000,000 B. [B]
RENDEZVOUS = 128 << 10
#: Of the sizes up to this one every other is fitted to; the others, and all that are larger, are held out. [B]
LARGEST_FITTED = 500_000
NODES = range(2, 25, 2)
#: Of which nodes send and receive at the same time, as by MPI_Sendrecv.
TWO_WAYS = ["pairwise", "balanced", "recursive", "bruck"]
#: Of which in each step only one receives.
ONE_WAY = ["linear"]
#: What libraries choose for this size, as far as we know.
PREDICTED = "pairwise"


def round_trips() -> dict[int, float]:
    """For each size the seconds from the begin of MPI_Send to the end of MPI_Recv. [B, s]"""
    with open(HERE / "calls.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {int(row["bytes"]): (float(row["send_us"]) + float(row["recv_us"])) / 1e6 for row in rows}


def fitted_and_held_out() -> tuple[list[int], list[int]]:
    """The sizes that are fitted to, and those that are not. [B]"""
    large = sorted(size for size in round_trips() if size >= RENDEZVOUS)
    fitted = [size for size in large if size <= LARGEST_FITTED][::2]
    return fitted, [size for size in large if size not in fitted]


def maquette(folder: Path, *words: str, may_fail: bool = False) -> None:
    """Runs the command in a folder; it may report that something it ran has failed."""
    completed = subprocess.run([MAQUETTE, *words], cwd=folder, check=not may_fail)
    if completed.returncode > 1:
        sys.exit(completed.returncode)


def fit(folder: Path) -> None:
    """Writes fitted.toml."""
    times, (sizes, _) = round_trips(), fitted_and_held_out()
    lines = ["program,ranks,bytes,time,held", *(f"ping-pong,2,{size},{times[size] * 1e6:.3f} us,no" for size in sizes)]
    (folder / "times.csv").write_text("\n".join([*lines, ""]))
    words = ["--machine", "./miriel.toml", "--times", "times.csv", "--write", "fitted.toml"]
    maquette(folder, "calibrate", *words, "--fit", "L=1us..1ms", "--fit", "G=100ps..10ns")


def sweep(folder: Path, experiment: str, over: dict[str, list[str]]) -> list[list[str]]:
    """The times of an experiment with all combinations of some values: these, and the time. [s]"""
    axes = [word for field, values in over.items() for word in ("--over", f"{field}={','.join(values)}")]
    maquette(folder, "sweep", experiment, *axes, "--out", "points.csv", may_fail=True)
    with open(folder / "points.csv", newline="") as file:
        # Algorithms that do not exist for so many nodes have no time.
        rows = [row for row in csv.DictReader(file) if row["makespan_ps"]]
    (folder / "points.csv").unlink()
    return [[*(row[field] for field in over), f"{int(row['makespan_ps']) / 1e12:.9f}"] for row in rows]


def write(file: Path, lines: list[list[str]]) -> None:
    """Writes predictions, line by line."""
    file.write_text("".join(",".join(line) + "\n" for line in lines))


def write_predictions(folder: Path) -> None:
    """Writes held-out.csv and all-to-all.csv."""
    sizes = [str(size) for size in fitted_and_held_out()[1]]
    write(folder / "held-out.csv", [["bytes", "predicted_s"], *sweep(folder, "ping-pong.toml", {"bytes": sizes})])
    ranks = [str(nodes) for nodes in NODES]
    two_ways = {"ranks": ranks, "algorithm": TWO_WAYS, "order": ["sendrecv"]}
    lines = [[nodes, algorithm, time] for nodes, algorithm, _, time in sweep(folder, "all-to-all.toml", two_ways)]
    lines += sweep(folder, "all-to-all.toml", {"ranks": ranks, "algorithm": ONE_WAY})
    write(folder / "all-to-all.csv", [["nodes", "algorithm", "predicted_s"], *lines])


def predict() -> int:
    """Makes the predictions; those that are there are never replaced."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("miriel.toml", "ping-pong.toml", "all-to-all.toml"):
            shutil.copy(HERE / name, folder)
        fit(folder)
        write_predictions(folder)
        if MADE.exists():
            other = [name for name in WRITTEN if (folder / name).read_bytes() != (MADE / name).read_bytes()]
            print(f"other predictions than {MADE.name} has: {', '.join(other)}" if other else f"as {MADE.name} has them")
            return 1 if other else 0
        MADE.mkdir()
        for name in WRITTEN:
            shutil.copy(folder / name, MADE)
            print(hashlib.sha256((MADE / name).read_bytes()).hexdigest(), name)
        return 0


def compare_held_out() -> int:
    """Prints how far the predicted round trips are from those that were measured."""
    times = round_trips()
    with open(MADE / "held-out.csv", newline="") as file:
        errors = {int(row["bytes"]): float(row["predicted_s"]) / times[int(row["bytes"])] - 1 for row in csv.DictReader(file)}
    for what, low, high in [("between", 0, LARGEST_FITTED), ("beyond", LARGEST_FITTED + 1, 1 << 30)]:
        some = [error for size, error in errors.items() if low <= size <= high]
        sizes = [abs(error) for error in some]
        print(f"{what} the sizes fitted to: {len(some)} predictions, error {100 * statistics.median(sizes):.1f}% median, "
              f"{100 * max(sizes):.1f}% worst; {100 * statistics.median(some):+.1f}% signed median")
    return 0


def all_to_alls() -> dict[int, float]:
    """For each number of nodes the median time of MPI_Alltoall until its slowest rank is done. [s]"""
    calls: dict[int, list[float]] = {}
    with open(HERE / "all-to-all-calls.csv", newline="") as file:
        for row in csv.DictReader(file):
            calls.setdefault(int(row["nodes"]), []).append(float(row["slowest_rank_ms"]) / 1e3)
    return {nodes: statistics.median(times) for nodes, times in calls.items()}


def compare_all_to_all() -> int:
    """Prints the predictions of each algorithm beside what MPI_Alltoall took, where that was measured."""
    times, errors = all_to_alls(), []
    with open(MADE / "all-to-all.csv", newline="") as file:
        for row in csv.DictReader(file):
            time = times.get(int(row["nodes"]))
            if time is not None:
                predicted = float(row["predicted_s"])
                error = predicted / time - 1
                print(f"{row['nodes']:>3} {row['algorithm']:<10} {predicted * 1e3:8.2f} ms, measured {time * 1e3:7.2f} ms: {100 * error:+.1f}%")
                if row["algorithm"] == PREDICTED:
                    errors.append(abs(error))
    print(f"{PREDICTED}: {len(errors)} predictions, error {100 * statistics.median(errors):.1f}% median, {100 * max(errors):.1f}% worst")
    return 0


def main() -> int:
    """Does what the words say."""
    match sys.argv[1:]:
        case ["predict"]:
            return predict()
        case ["compare", "held-out"]:
            return compare_held_out()
        case ["compare", "all-to-all"]:
            return compare_all_to_all()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
