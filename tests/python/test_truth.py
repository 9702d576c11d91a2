"""What was predicted of machines before it was measured."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAQUETTE = Path(sys.executable).with_name("maquette")


def test_the_predictions_for_miriel_come_out_again() -> None:
    command: list[str | Path] = [sys.executable, ROOT / "experiments" / "truth" / "miriel" / "predict.py", "predict"]
    environment = os.environ | {"MAQUETTE": str(MAQUETTE)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("as 2026-11-22 has them\n")
