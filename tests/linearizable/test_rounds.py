"""A few rounds of kills, and the tests of the checker. They need Go, which nothing else in the project does; without it they are skipped."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

import rounds

#: The longest time to build the checker and to test it. [s]
LIMIT = 300
COMMAND = str(Path(sys.executable).with_name("maquette"))


@pytest.fixture(scope="module", autouse=True)
def go() -> None:
    """Require Go, and fetch the checker's only dependency, from its cache or the network."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: apt-get install golang-go, or https://go.dev/dl")
    fetched = subprocess.run(["go", "mod", "download"], cwd=rounds.HERE, capture_output=True, text=True, timeout=LIMIT)
    if fetched.returncode:
        pytest.skip(f"Porcupine can't be fetched: {fetched.stderr.strip()}")


def test_the_checker() -> None:
    completed = subprocess.run(["go", "test", "."], cwd=rounds.HERE, capture_output=True, text=True, timeout=LIMIT)
    assert completed.returncode == 0, completed.stdout + completed.stderr


@pytest.mark.parametrize(("members", "kills"), [(1, 3), (3, 2)])
def test_members_that_are_killed_lose_nothing(tmp_path: Path, members: int, kills: int) -> None:
    tally, errors = rounds.run(COMMAND, tmp_path, members, rounds=kills, seed=1)
    assert not errors, f"{errors}; the history is in {tmp_path}"
    assert tally.rounds == kills and tally.splits > 0


@pytest.mark.parametrize(("members", "parity"), [(3, 1), (4, 2)])
def test_members_that_are_lost_for_good_are_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: int, parity: int) -> None:
    monkeypatch.setattr(rounds, "LOST", 1)
    tally, errors = rounds.run(COMMAND, tmp_path, members, rounds=1, seed=1, parity=parity)
    assert not errors, f"{errors}; the history is in {tmp_path}"
    assert tally.lost == parity and tally.splits > 0


def test_a_history_with_a_lost_write_is_rejected(tmp_path: Path) -> None:
    checker, history = rounds.build_checker(tmp_path), tmp_path / "history.jsonl"
    written = rounds.Operation(client=0, key="a", operation="set", argument="1", result="OK", call=0, answered=1)
    lost = rounds.Operation(client=1, key="a", operation="get", argument=None, result=None, call=2, answered=3)
    for operations, status in [([written], 0), ([written, lost], 1)]:
        history.write_text("".join(f"{operation.line()}\n" for operation in operations))
        assert subprocess.run([checker, history], capture_output=True, timeout=LIMIT).returncode == status
    history.write_text("nothing\n")
    assert subprocess.run([checker, history], capture_output=True, timeout=LIMIT).returncode == 2
