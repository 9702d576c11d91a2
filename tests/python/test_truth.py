"""What was predicted of machines before it was measured."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAQUETTE = Path(sys.executable).with_name("maquette")


def maquette(*words: str | Path) -> str:
    done = subprocess.run([MAQUETTE, *words], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_crosses_from_one_switch_to_the_other_keeps_the_trunk_busy(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    run = ["run", "all-to-all", "--machine", "./experiments/truth/two-switches/hosts.toml", "--bytes", "16KiB"]
    busy = json.loads(maquette(*run, "--json"))["frames"]["trunk_busy_ps"]
    # 16 messages each way, a bit in 40 ns, with a header of 64 B, and 14 B of a frame, in each of twelve frames; what asks for them and says that
    # they have come is less than an eighth of that.
    messages = 16 * (16384 + 12 * (64 + 14)) * 8 * 40_000
    assert len(busy) == 2 and all(messages <= way <= 1.125 * messages for way in busy)
    assert re.search("^trunk +busy for .* to the second switch, .* back$", maquette(*run, "--report", page), re.MULTILINE)
    assert "from the first switch to the second" in page.read_text()


def test_the_predictions_for_miriel_come_out_again() -> None:
    command: list[str | Path] = [sys.executable, ROOT / "experiments" / "truth" / "miriel" / "predict.py", "predict"]
    environment = os.environ | {"MAQUETTE": str(MAQUETTE)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("as 2026-11-22 has them\n")
