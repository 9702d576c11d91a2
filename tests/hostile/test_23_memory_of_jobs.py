"""A job takes memory by its ranks, not by the nodes of its machine: a LogGP machine has more than a million."""

import json
from pathlib import Path

from command import GIB, maquette

JOB = '[[job]]\nranks = 1\nprogram.broadcast = { bytes = "1 B" }\n'


def test_two_thousand_jobs_of_one_rank_take_little_memory(tmp_path: Path) -> None:
    experiment = tmp_path / "jobs.toml"
    experiment.write_text('[machine]\nname = "loggp"\n' + 2_000 * JOB)
    completed = maquette("run", experiment, "--json", memory=2 * GIB)
    assert completed.returncode == 0, completed.stderr
    assert len(json.loads(completed.stdout)["jobs"]) == 2_000
