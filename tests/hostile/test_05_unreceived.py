"""Messages that no rank receives are reported on every kind of machine, and a deadlock ends with status 1 on every kind."""

from pathlib import Path

import pytest
from command import answer, maquette, refusal

MACHINES = ["loggp", "fat-tree-1024", "torus-512", "dp-smp-8"]
TOO_MANY = """num_ranks 2
rank 0 {
  a: send 5000b to 1 tag 1
  b: send 5000b to 1 tag 2
}
rank 1 {
  a: recv 5000b from 0 tag 2
}
"""
NEVER_COMES = "num_ranks 2\nrank 0 {\n  a: send 8b to 1 tag 1\n}\nrank 1 {\n  a: recv 8b from 0 tag 2\n}\n"


@pytest.mark.parametrize("name", MACHINES)
def test_a_message_that_no_receive_takes_is_reported(name: str, tmp_path: Path) -> None:
    """It is in the text, in the JSON, and in a warning, with the line of its send."""
    schedule = tmp_path / "too-many.goal"
    schedule.write_text(TOO_MANY)
    completed = maquette("run", "goal", schedule, "--machine", name)
    assert completed.returncode == 0, completed.stderr
    assert ["not", "received", "1"] in [line.split() for line in completed.stdout.splitlines()]
    assert "too-many.goal:3: no receive of rank 1 took the message of rank 0 with tag 1" in completed.stderr
    not_received = answer("run", "goal", schedule, "--machine", name)["not_received"]
    assert not_received == [{"from": 0, "to": 1, "tag": 1, "line": 3}]


@pytest.mark.parametrize("name", MACHINES)
def test_programs_report_it_too(name: str) -> None:
    """A program that receives everything says so in its JSON."""
    result = answer("run", "broadcast", "--machine", name, "--nodes", "8", "--algorithm", "binomial", "--bytes", "100")
    assert result["not_received"] == []


@pytest.mark.parametrize("name", MACHINES)
def test_a_deadlock_of_a_schedule_ends_in_status_1(name: str, tmp_path: Path) -> None:
    """As for every other program. The error also counts the messages that were not received."""
    schedule = tmp_path / "never.goal"
    schedule.write_text(NEVER_COMES)
    error = refusal("run", "goal", schedule, "--machine", name, status=1)
    assert "deadlock" in error and "line 6" in error
    assert "1 message was not received" in error
