"""Predictions that were made before the machines were measured."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAQUETTE = Path(sys.executable).with_name("maquette")


def maquette(*arguments: str | Path) -> str:
    done = subprocess.run([MAQUETTE, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_messages_between_the_switches_keep_the_trunk_busy(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    run = ["run", "all-to-all", "--machine", "./experiments/truth/two-switches/hosts.toml", "--bytes", "16KiB"]
    busy = json.loads(maquette(*run, "--json"))["frames"]["trunk_busy_ps"]
    # 16 messages each way, a bit in 40 ns, in twelve frames each, with a packet header of 26 B at least, an envelope of 60 B and a frame header
    # of 14 B; requests and acknowledgements take less than an eighth of that.
    messages = 16 * (16384 + 12 * (26 + 60 + 14)) * 8 * 40_000
    assert len(busy) == 2 and all(messages <= direction <= 1.125 * messages for direction in busy)
    assert re.search("^trunk +busy for .* to the second switch, .* back$", maquette(*run, "--report", page), re.MULTILINE)
    assert "from the first switch to the second" in page.read_text()


def predict_miriel(*words: str) -> str:
    command: list[str | Path] = [sys.executable, ROOT / "experiments" / "truth" / "miriel" / "predict.py", *words]
    environment = os.environ | {"MAQUETTE": str(MAQUETTE)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_predictions_for_miriel_are_reproduced() -> None:
    assert predict_miriel("predict").endswith("as 2026-11-22 has them\n")


def test_the_errors_of_the_predictions_for_miriel_are_those_of_its_page() -> None:
    page = (ROOT / "experiments" / "truth" / "README.md").read_text()
    rows = [line for line in page.splitlines() if "4 MB on 2 to 16 of its nodes" in line]
    summary = predict_miriel("compare", "all-to-all").splitlines()[-1]
    found = re.fullmatch("pairwise: ([0-9]+) predictions, error ([0-9.]+%) median, ([0-9.]+%) worst", summary)
    assert found and len(rows) == 1 and f"| {found[1]} | {found[2]}, {found[3]} |" in rows[0]
