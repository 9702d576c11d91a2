"""A few rounds of kills, and the tests of the judge. They need Go, which nothing else here does; without it they are skipped."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

import rounds

#: As long building the judge and testing it may take. [s]
LIMIT = 300
COMMAND = str(Path(sys.executable).with_name("maquette"))


@pytest.fixture(scope="module", autouse=True)
def go() -> None:
    """Go, and the judge's only dependency, from its cache or the network."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: apt-get install golang-go, or https://go.dev/dl")
    fetched = subprocess.run(["go", "mod", "download"], cwd=rounds.HERE, capture_output=True, text=True, timeout=LIMIT)
    if fetched.returncode:
        pytest.skip(f"Porcupine can't be fetched: {fetched.stderr.strip()}")


def test_the_judge() -> None:
    done = subprocess.run(["go", "test", "."], cwd=rounds.HERE, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("members", "kills"), [(1, 3), (3, 2)])
def test_members_that_are_killed(tmp_path: Path, members: int, kills: int) -> None:
    tally, wrong = rounds.run(COMMAND, tmp_path, members, rounds=kills, seed=1)
    assert not wrong, f"{wrong}; the history is in {tmp_path}"
    assert tally.rounds == kills and tally.splits > 0


@pytest.mark.parametrize(("members", "parity"), [(3, 1), (4, 2)])
def test_members_that_are_lost_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: int, parity: int) -> None:
    monkeypatch.setattr(rounds, "LOST", 1)
    tally, wrong = rounds.run(COMMAND, tmp_path, members, rounds=1, seed=1, parity=parity)
    assert not wrong, f"{wrong}; the history is in {tmp_path}"
    assert tally.lost == parity and tally.splits > 0


def test_a_history_that_lost_a_write_is_found(tmp_path: Path) -> None:
    judge, history = rounds.checker(tmp_path), tmp_path / "history.jsonl"
    written = rounds.Operation(client=0, key="a", operation="set", argument="1", result="OK", call=0, answered=1)
    lost = rounds.Operation(client=1, key="a", operation="get", argument=None, result=None, call=2, answered=3)
    for operations, status in [([written], 0), ([written, lost], 1)]:
        history.write_text("".join(f"{operation.line()}\n" for operation in operations))
        assert subprocess.run([judge, history], capture_output=True, timeout=LIMIT).returncode == status
    history.write_text("nothing\n")
    assert subprocess.run([judge, history], capture_output=True, timeout=LIMIT).returncode == 2
