"""Pools with parity, of real processes: the state of their groups, and members that leave them."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pools import COMMAND, LIMIT, Member, wait_until

#: A member that is silent for this long is considered lost. [s]
PATIENCE = 0.5
ROLES = ["data", "data", "data", "parity", "parity", "spare", "spare"]


class Pool:
    """A pool with parity, and its members."""

    def __init__(self, directory: Path, parity: int) -> None:
        self.directory = directory
        self.options = ["--parity", str(parity), "--parity-patience", str(PATIENCE), "--servers", "16", "--fsync", "never", "--http", "0"]
        self.members: list[Member] = []
        self.roles: dict[int, str] = {}

    def add(self, role: str, again: int | None = None) -> Member:
        """Starts a member, which has a directory of its own, or that of an earlier one."""
        joins = ["--join", self.members[0].members] if self.members else []
        data = str(self.directory / str(len(self.members) if again is None else again))
        member = Member(*joins, *self.options, "--data", data, *(["--role", role] if role != "data" else []))
        self.members.append(member)
        self.roles[member.slots] = role
        return member

    def of(self, role: str) -> list[Member]:
        return [member for member in self.members if self.roles[member.slots] == role and member.process.poll() is None]

    def whole_status(self) -> dict[str, Any]:
        """What `maquette store status` prints."""
        command = [str(COMMAND), "store", "status", f"127.0.0.1:{self.members[0].port}", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * LIMIT, check=False)
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    def status(self) -> dict[str, Any]:
        """The groups in it."""
        parity: dict[str, Any] = self.whole_status()["parity"]
        return parity

    def group(self) -> dict[str, Any]:
        """The only group; empty if no parity member leads."""
        groups = self.status()["groups"]
        assert len(groups) <= 1
        return groups[0] if groups else {}

    def wait_until_whole(self, members: int) -> None:
        def is_whole() -> bool:
            group = self.group()
            return bool(group) and group["whole"] and group["rebuilding"] is None and len(group["members"]) == members

        wait_until(is_whole, f"a group of {members} is whole: {self.status()}")


@contextmanager
def pool_with_parity(directory: Path, parity: int, roles: list[str]) -> Iterator[Pool]:
    pool = Pool(directory, parity)
    try:
        for role in roles:
            pool.add(role)
        pool.wait_until_whole(roles.count("data"))
        yield pool
    finally:
        for member in pool.members:
            member.process.terminate()
        for member in pool.members:
            member.process.communicate(timeout=LIMIT)


def drain(member: Member) -> tuple[int, str]:
    command = [str(COMMAND), "store", "drain", f"127.0.0.1:{member.port}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def fill(member: Member, count: int) -> dict[str, str]:
    records = {f"key:{number}": f"value of {number}" * 20 for number in range(count)}
    with member.client() as client:
        for first in range(0, count, 500):
            client.mset(dict(list(records.items())[first : first + 500]))
    return records


def check(member: Member, records: dict[str, str]) -> None:
    with member.client() as client:
        assert client.dbsize() == len(records)
        keys = list(records)
        assert client.mget(keys) == [records[key] for key in keys]


@pytest.mark.parametrize(("parity", "roles"), [(1, ["data", "data", "data", "parity", "spare"]), (2, ROLES)])
def test_a_member_leaves_a_group_and_another_one_is_lost_afterwards(tmp_path: Path, parity: int, roles: list[str]) -> None:
    with pool_with_parity(tmp_path, parity, roles) as pool:
        first, leaver, lost = pool.of("data")
        records = fill(first, 4_000)
        group = pool.group()
        assert (group["survives"], group["promised"], group["spares"]) == (parity, parity, roles.count("spare"))
        assert sorted(seat["address"] for seat in group["members"]) == sorted(member.startup["slots"] for member in pool.of("data"))
        assert (group["follower"] is not None) == (parity == 2)
        status, output = drain(leaver)
        assert status == 0, output
        assert leaver.process.wait(LIMIT) == 0
        pool.wait_until_whole(2)
        check(first, records)
        lost.process.kill()
        with first.client() as client:
            wait_until(lambda: client.info("parity")["parity_role"] == "data", "it answers")
        pool.wait_until_whole(2)
        wait_until(lambda: pool.group()["spares"] == roles.count("spare") - 1, "a spare has become it")
        check(first, records)
        pool.add("data")
        pool.wait_until_whole(3)
        check(first, records)


def test_a_spare_that_is_gone_is_silent_and_those_that_are_there_stand_by(tmp_path: Path) -> None:
    with pool_with_parity(tmp_path, 1, ["data", "parity", "spare", "spare"]) as pool:
        wait_until(lambda: pool.whole_status()["standing_by"] == 3, "the parity member and the spares are connected")
        assert pool.whole_status()["silent"] == []
        spare = pool.of("spare")[0]
        spare.process.kill()
        wait_until(lambda: pool.whole_status()["silent"] == [spare.startup["slots"]], "it is silent")
        assert pool.whole_status()["standing_by"] == 2


def test_a_member_that_is_lost_while_it_leaves_is_rebuilt_and_leaves(tmp_path: Path) -> None:
    with pool_with_parity(tmp_path, 1, ["data", "data", "data", "parity", "spare"]) as pool:
        first, leaver, _ = pool.of("data")
        records = fill(first, 4_000)
        # Its servers move within some hundredths of a second: the command would return only after it has left.
        with leaver.client() as client:
            stage = client.execute_command("CLUSTER DRAIN")[0]
            leaver.process.kill()
        assert stage == "moving"
        [spare] = pool.of("spare")
        assert spare.process.wait(LIMIT) == 0, "the spare became the leaving member, and has left"
        pool.wait_until_whole(2)
        check(first, records)


def test_a_spare_leaves_and_a_parity_member_refuses(tmp_path: Path) -> None:
    with pool_with_parity(tmp_path, 1, ["data", "data", "parity", "spare", "spare"]) as pool:
        spare = pool.of("spare")[0]
        status, output = drain(spare)
        assert status == 0, output
        assert spare.process.wait(LIMIT) == 0
        wait_until(lambda: pool.group()["spares"] == 1, "one is left")
        status, output = drain(pool.of("parity")[0])
        assert status == 1 and "a parity member with a group can't be drained" in output


def test_members_are_readmitted_if_their_replacements_never_came(tmp_path: Path) -> None:
    def facts_of(member: int) -> Path:
        return tmp_path / str(member) / "group"

    with pool_with_parity(tmp_path, 1, ["data", "data", "parity", "spare"]) as pool:
        first, other = pool.of("data")
        records = fill(first, 4_000)
        parity = pool.of("parity")[0]
        parity.process.terminate()
        parity.process.wait(LIMIT)
        # As if it had told spares to become these members, and the spares had gone before they did.
        facts = json.loads(facts_of(2).read_text())
        assert facts["confirmed"] == [0, 0, None, None]
        facts["columns"] = [column and [column[0], column[1] + 1] for column in facts["columns"]]
        facts_of(2).write_text(json.dumps(facts))
        pool.add("parity", again=2)
        pool.wait_until_whole(2)
        check(other, records)
        assert [json.loads(facts_of(member).read_text())["life"] for member in range(2)] == [2, 2]
        records |= fill(other, 100)
        other.process.kill()
        other.process.wait(LIMIT)
        pool.add("data", again=1)
        pool.wait_until_whole(2)
        check(first, records)
