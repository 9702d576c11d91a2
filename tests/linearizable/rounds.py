"""Stores that keep what they hold, killed again and again under load: nothing acknowledged is lost, and histories are linearizable.

    .venv/bin/python tests/linearizable/rounds.py --members 3 --rounds 200 --seed 1 [--command target/release/maquette]
    .venv/bin/python tests/linearizable/rounds.py --members 4 --rounds 200 --seed 1 --parity 1
    .venv/bin/python tests/linearizable/rounds.py --members 4 --rounds 200 --seed 1 --parity 2

Real processes serve a table with `--data` and `--fsync always`, and clients of redis-py use it, each any member: keys that all of them
write, read, count and take out, and keys of their own, as many as make the table grow and shrink. Each round one member or all are
killed by SIGKILL at random, as often as it can be had while servers split or merge, and started again. With `--parity 1` there are a
parity member and a spare more, all have `--fsync never`, and in some rounds a member that hosts servers is killed and its directory destroyed:
it is rebuilt on the spare, and started again as another one. With `--parity 2` there are two of each, and two members are killed so, one after the
other, of which one may be a parity member. At the end

- each key of a client's own holds what was acknowledged last, or what was asked for later and never answered,
- each key is there once, from any member, and the servers have as many records as there are keys,
- Porcupine finds the history of each key linearizable. What was never answered may have been carried out at any time, or not at all.

Exit status: 0 if all that holds, else 1; then the history, the directories and what members said are kept.
"""

import argparse
import json
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from stores import free_port

HERE = Path(__file__).parent
#: Records for which a server has room.
CAPACITY = 50
#: Servers that all members together may have, unless told otherwise.
SERVERS = 12
#: Clients, keys that they share of each kind, and keys of each one's own.
CLIENTS, SHARED, OWN = 6, 3, 100
#: After as many rounds other keys are shared, so that few requests that were never answered are about the same one.
ROUNDS_OF_KEYS = 5
#: As long the table grows, and then shrinks. [s]
GROWTH = 1.5
#: As long a member goes on between two kills, and as long it is gone. [s]
BETWEEN, GONE = (0.05, 0.5), (0.0, 0.2)
#: As long it is waited, before half of the kills, for a server that splits or merges. [s]
PATIENCE = (0.1, 1.0)
#: In this share of rounds a member is halted before one is killed, so that what others move to it stays on its way.
HALTED = 0.4
#: Values of keys of one's own are as large, so that a split takes several messages: most are small, and some are large. [B]
SIZES = (10, 100, 10_000, 100_000)
#: In this share of rounds a member of a group is lost for good, with its directory.
LOST = 0.3
#: A member of a group that is silent for so long is taken for lost: longer than one takes to be started again. [s]
PARITY_PATIENCE = 2
#: As long anything may take that is waited for: more than the ten seconds after which a member says CLUSTERDOWN. [s]
LIMIT = 30
#: As long the table must stay as it is before it is looked at. [s]
SETTLED = 1.0


@dataclass
class Operation:
    """What a client asked about one key, and what it was told: a line of the history."""

    client: int
    key: str
    operation: str
    argument: str | None
    result: str | None
    #: When it asked and when it was answered, if it was. [ns]
    call: int
    # `return` is a word of Python's.
    answered: int | None

    def line(self) -> str:
        """The line that the checker reads."""
        told = asdict(self)
        told["return"] = told.pop("answered")
        return json.dumps(told)


class Member:
    """A process that can be killed and started again: it keeps its directory and its ports."""

    def __init__(self, command: str, directory: Path, *options: str) -> None:
        self.port, self.members = free_port(), free_port()
        self.directory = directory
        self.log = directory.with_name(f"{directory.name}.stderr")
        self.line = [command, "store", "serve", "--json", "--port", str(self.port), "--members-port", str(self.members)]
        self.line += ["--slots-port", str(free_port()), "--capacity", str(CAPACITY)]
        self.line += ["--data", str(directory), *options]
        #: Splits and merges: as many as it was seen to have had in all its lives, and of that in this one.
        self.seen, self.counted = Counter[str](), Counter[str]()
        self.start()

    def start(self, connects: bool = True) -> None:
        """Start it, and wait until it listens. Members of a group answer nobody before enough of them are there: then it is asked later."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.line, stdout=subprocess.PIPE, stderr=log, text=True)
        output: IO[str] | None = self.process.stdout
        assert output is not None
        readable, _, _ = select.select([output], [], [], LIMIT)
        if not readable or not output.readline():
            raise Failure(f"a member did not start: {self.log.read_text()[-2_000:]}")
        self.counted.clear()
        if connects:
            self.observer = self.client()

    def connect(self) -> None:
        """Ask it from now on, as soon as it answers."""
        end = time.monotonic() + LIMIT
        while not self.is_replaced():
            try:
                self.observer = self.client()
                return
            except redis.ConnectionError:
                if time.monotonic() > end:
                    raise

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process.poll() is not None and not self.is_replaced():
            raise Failure(f"a member ended by itself, with {self.process.returncode}: {self.log.read_text()[-2_000:]}")
        self.process.kill()
        self.process.communicate(timeout=LIMIT)
        self.observer.close()

    def is_replaced(self) -> bool:
        """Whether it has ended since somebody else is this member now."""
        return self.process.poll() == 1 and "was rebuilt on another one" in self.log.read_text()[-500:]

    def begin_as_spare(self, other: "Member") -> None:
        """Start it with nothing, as a spare that another member lets in."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.log.write_text("")
        self.line += ["--role", "spare"] if "--role" not in self.line else []
        self.line += ["--join", f"127.0.0.1:{other.members}"]
        self.start()

    def group(self) -> dict[str, Any]:
        """What it says of its part in a group."""
        try:
            told: dict[str, Any] = self.observer.info("parity")
        except redis.ConnectionError:
            # A spare that becomes a lost member ends all connections.
            self.observer = self.client()
            told = self.observer.info("parity")
        return told

    def client(self) -> Any:
        """A client that is connected, and tries nothing twice."""
        never = Retry(NoBackoff(), 0)
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=LIMIT, retry=never, single_connection_client=True)

    def pool(self) -> dict[str, Any]:
        """What it says of the pool."""
        self.group()
        told: dict[str, Any] = self.observer.info("pool")
        for each in ("pool_splits", "pool_merges"):
            self.seen[each] += max(0, int(told[each]) - self.counted[each])
            self.counted[each] = int(told[each])
        return told

    def is_steady(self) -> bool:
        """Whether none of its servers splits or merges now."""
        return all(server["steady"] for server in servers(self.pool()))


class Failure(Exception):
    """Something that must not happen."""


def servers(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The servers of a member, of what it says of the pool."""
    return [value for key, value in told.items() if key.startswith("server") and isinstance(value, dict)]


class Client(threading.Thread):
    """Uses the table, and keeps what it asked and was told."""

    def __init__(self, number: int, members: list[Member], seed: int) -> None:
        super().__init__()
        self.number, self.members, self.chance = number, members, random.Random(f"{seed} {number}")
        self.history: list[Operation] = []
        #: What each key of its own may hold: what was acknowledged, and what was asked for later and not answered.
        self.known: dict[str, set[str | None]] = {}
        #: As often each key of its own was given up because it is not known what it holds.
        self.given_up: Counter[int] = Counter()
        self.refused: Counter[str] = Counter()
        self.values = 0
        self.round, self.ends = 0, False
        self.began = time.monotonic()

    def run(self) -> None:
        """Use the table until told to end."""
        while not self.ends:
            with suppress(redis.ConnectionError, redis.TimeoutError), self.chance.choice(self.members).client() as client:
                client.ping()
                while not self.ends:
                    self.share(client) if self.chance.random() < 0.5 else self.use_own(client)
            # A member that is gone refuses at once; who asked all the time would take the processor from those that start.
            time.sleep(0.005)

    def share(self, client: Any) -> None:
        """One operation on a key that others use, too."""
        name, number = self.round // ROUNDS_OF_KEYS, self.chance.randrange(SHARED)
        if self.chance.random() < 0.5:
            operation = self.chance.choices(["get", "incr", "del"], [4, 5, 1])[0]
            self.ask(client, operation, f"count:{name}:{number}")
        else:
            operation = self.chance.choices(["get", "set", "set-nx", "del"], [5, 3, 1, 1])[0]
            self.ask(client, operation, f"text:{name}:{number}", self.value() if operation.startswith("set") else None)

    def use_own(self, client: Any) -> None:
        """One operation on a key that nobody else uses."""
        number = self.chance.randrange(OWN)
        key = f"own:{self.number}:{number}:{self.given_up[number]}"
        before = self.known.get(key, {None})
        if self.chance.random() < 0.2:
            operation, value, after = "get", None, before
        elif self.chance.random() < (0.9 if (time.monotonic() - self.began) // GROWTH % 2 == 0 else 0.05):
            value = self.value().ljust(self.chance.choice(SIZES), ".")
            operation, after = "set", {value}
        else:
            operation, value, after = "del", None, {None}
        self.known[key] = before | after
        try:
            answered = self.ask(client, operation, key, value)
        except (redis.ConnectionError, redis.TimeoutError):
            self.given_up[number] += 1
            raise
        if answered:
            self.known[key] = after
        else:
            self.given_up[number] += 1

    def value(self) -> str:
        """A value that nobody has stored yet."""
        self.values += 1
        return f"{self.number}.{self.values}"

    def ask(self, client: Any, operation: str, key: str, value: str | None = None) -> bool:
        """Carry out an operation, and whether it was."""
        words = {"set-nx": ["SET", key, value, "NX"], "set": ["SET", key, value]}.get(operation, [operation.upper(), key])
        asked = Operation(self.number, key, operation, value, None, time.monotonic_ns(), None)
        self.history.append(asked)
        try:
            reply = client.execute_command(*words)
        except redis.ResponseError as error:
            # Nobody says that it was not carried out meanwhile.
            self.refused[str(error)] += 1
            return False
        asked.answered = time.monotonic_ns()
        asked.result = None if reply is None else "OK" if reply is True else str(reply)
        return True


@dataclass
class Tally:
    """What happened in the rounds."""

    rounds: int = 0
    kills: int = 0
    #: Kills while servers split or merged.
    unsteady: int = 0
    splits: int = 0
    merges: int = 0
    #: Members that were lost for good.
    lost: int = 0


def lead(members: list[Member]) -> dict[str, Any]:
    """What the parity member that leads says of the group; nothing, if none does."""
    told = [member.group() for member in members if member.process.poll() is None]
    return next((one for one in told if one.get("parity_leads") == 1 and "parity_column0" in one), {})


def is_whole(members: list[Member], parity: int) -> bool:
    """Whether any so many members of the group may be lost, and there are spares for them."""
    told = lead(members)
    columns = [column for name, column in told.items() if name.startswith("parity_column")]
    data = [one for one in (member.group() for member in members) if one["parity_role"] == "data"]
    is_covered = all(column["covered"] and not column["rebuilding"] and column["silent"] < 1_000 for column in columns)
    is_backed = told.get("parity_survives") == parity
    return is_backed and is_covered and len(columns) == len(data) == len(members) - 2 * parity and all(one["parity_covered"] for one in data)


def lose(members: list[Member], parity: int, chance: random.Random, tally: Tally) -> None:
    """Lose as many members as may be, with their directories, and wait until they are rebuilt."""
    wait_until(lambda: is_whole(members, parity), "members may be lost")
    roles = {id(member): member.group()["parity_role"] for member in members}
    data = [member for member in members if roles[id(member)] == "data"]
    keepers = [member for member in members if roles[id(member)] == "parity"]
    victims = chance.sample(data, parity)
    if parity > 1 and chance.random() < 0.5:
        victims[chance.randrange(parity)] = chance.choice(keepers)
    tally.unsteady += not all(member.is_steady() for member in data)
    for victim in victims:
        victim.kill()
        shutil.rmtree(victim.directory)
        time.sleep(chance.uniform(0, 3 * PARITY_PATIENCE) if victim is not victims[-1] else 0)
    others = [member for member in members if member not in victims]

    def is_rebuilt() -> bool:
        hosts = [member for member in others if member.group()["parity_role"] == "data"]
        return len(hosts) == len(data) and all(member.group()["parity_covered"] for member in hosts)

    wait_until(is_rebuilt, "lost members are rebuilt")
    for victim in victims:
        victim.begin_as_spare(others[0])
    wait_until(lambda: is_whole(members, parity), "members may be lost")
    tally.rounds, tally.kills, tally.lost = tally.rounds + 1, tally.kills + parity, tally.lost + parity


def play(members: list[Member], clients: list[Client], rounds: int, chance: random.Random, tally: Tally, parity: int) -> None:
    """Kill members and start them again, so many rounds."""
    for number in range(rounds):
        for client in clients:
            client.round = number
        time.sleep(chance.uniform(*BETWEEN))
        if parity and chance.random() < LOST:
            lose(members, parity, chance, tally)
            continue
        # Nobody answers while the only parity member of its group is halted. Of two, the other one goes on.
        others = [member for member in members if parity != 1 or member.group()["parity_role"] != "parity"]
        halted = [chance.choice(others)] if chance.random() < HALTED and len(members) > 1 else []
        for member in halted:
            member.process.send_signal(signal.SIGSTOP)
        going = [member for member in members if member not in halted]
        patience = time.monotonic() + (chance.uniform(*PATIENCE) if chance.random() < 0.5 else 0)
        while (steady := all(member.is_steady() for member in going)) and time.monotonic() < patience:
            pass
        tally.unsteady += not steady
        victims = list(members) if chance.random() < 0.1 else [chance.choice(members)]
        for victim in victims:
            victim.kill()
        for member in halted:
            member.process.send_signal(signal.SIGCONT)
        time.sleep(chance.uniform(*GONE))
        chance.shuffle(victims)
        for victim in victims:
            victim.start(connects=False)
        for victim in victims:
            victim.connect()
        for replaced in (member for member in members if member.is_replaced()):
            replaced.begin_as_spare(next(member for member in members if member is not replaced))
        tally.rounds, tally.kills = tally.rounds + 1, tally.kills + len(victims)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for what comes by itself."""
    end = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > end:
            raise Failure(f"it does not come to pass that {what}")
        time.sleep(0.05)


def settle(members: list[Member]) -> None:
    """Wait until no server splits or merges any more."""
    since, before = time.monotonic(), list[Any]()

    def is_settled() -> bool:
        nonlocal since, before
        told = [member.pool() for member in members]
        now = [(one["pool_splits"], one["pool_merges"], servers(one)) for one in told]
        if now != before or not all(member.is_steady() for member in members):
            since, before = time.monotonic(), now
        return time.monotonic() - since > SETTLED

    wait_until(is_settled, "no server splits or merges any more")


def short(value: str | None) -> str:
    """A value without what only makes it large."""
    return "nothing" if value is None else value.rstrip(".")


def look(members: list[Member], clients: list[Client]) -> Iterator[str]:
    """What is wrong with what the table holds in the end. What is read is added to the history, too."""
    settle(members)
    reader = Client(len(clients), members, 0)
    known = {key: values for client in clients for key, values in client.known.items()}
    keys = sorted({operation.key for client in clients for operation in client.history})
    found = dict[str, str | None]()
    with members[0].client() as client:
        for key in keys:
            if not reader.ask(client, "get", key):
                yield f"{key} can't be read: {reader.refused}"
            found[key] = reader.history[-1].result
    clients.append(reader)
    for key, values in known.items():
        if found[key] not in values:
            yield f"{key} holds {short(found[key])}, and not what was acknowledged last: {sorted(map(short, values))}"
    there = {key for key, value in found.items() if value is not None}
    for number, member in enumerate(members):
        with member.client() as client:
            scanned = Counter(client.scan_iter(count=100))
            size = client.dbsize()
        for key in sorted((key for key, count in scanned.items() if count > 1)):
            yield f"SCAN of member {number} gives {key} {scanned[key]} times"
        for key in sorted(there - set(scanned)):
            yield f"SCAN of member {number} does not give {key}, which holds {short(found[key])}"
        for key in sorted(set(scanned) - there):
            yield f"SCAN of member {number} gives {key}, which was not there"
        if size != len(there):
            yield f"DBSIZE of member {number} is {size}, and there are {len(there)} keys"
    records = sum(int(server["records"]) for member in members for server in servers(member.pool()))
    if records != len(there):
        yield f"the servers have {records} records, and there are {len(there)} keys"


@contextmanager
def stores(command: str, directory: Path, count: int, room: int, parity: int) -> Iterator[list[Member]]:
    """A store of several servers, or a pool of several members, until the block is left."""
    members: list[Member] = []
    keeps = ["--fsync", "never", "--parity", str(parity), "--parity-patience", str(PARITY_PATIENCE)] if parity else ["--fsync", "always"]
    roles = [*([] for _ in range(count)), *(["--role", role] for role in parity * ["parity"] + parity * ["spare"])]
    try:
        for number, role in enumerate(roles):
            join = ["--join", f"127.0.0.1:{members[0].members}"] if members else []
            members.append(Member(command, directory / f"member.{number}", "--servers", str(room // count), *keeps, *role, *join))
        wait_until(lambda: all(member.pool()["pool_members"] == len(roles) for member in members), "all know each other")
        if parity:
            wait_until(lambda: is_whole(members, parity), "members may be lost")
        yield members
    finally:
        for member in members:
            member.process.kill()
            member.process.communicate(timeout=LIMIT)


def checker(directory: Path) -> Path:
    """The program that judges histories, built."""
    program = directory / "linearizable"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE, check=True, timeout=600, capture_output=True, text=True)
    return program


def run(
    command: str, directory: Path, members: int, rounds: int, seed: int, room: int = SERVERS, parity: int = 0
) -> tuple[Tally, list[str]]:
    """All rounds, and what is wrong after them. The history is left in the directory."""
    tally, wrong, chance = Tally(), list[str](), random.Random(seed)
    judge = checker(directory)
    with stores(command, directory, members, room, parity) as all_of_them:
        clients = [Client(number, all_of_them, seed) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: any(member.pool()["pool_splits"] for member in all_of_them), "the table grows")
            play(all_of_them, clients, rounds, chance, tally, parity)
        except (Failure, redis.RedisError) as failure:
            ended = [member.process.poll() for member in all_of_them]
            wrong.append(f"round {tally.rounds}: {failure!r}; exit status of each member: {ended}")
        seen = sum((member.seen for member in all_of_them), Counter[str]())
        tally.splits, tally.merges = seen["pool_splits"], seen["pool_merges"]
        for client in clients:
            client.ends = True
        for client in clients:
            client.join(2 * LIMIT)
        if any(client.is_alive() for client in clients):
            wrong.append("a client waits for ever")
        elif not wrong:
            try:
                wrong += look(all_of_them, clients)
            except (Failure, redis.RedisError) as failure:
                wrong.append(f"in the end: {failure!r}")
    history = directory / "history.jsonl"
    operations = [operation for client in clients for operation in list(client.history)]
    operations.sort(key=lambda one: one.call)
    history.write_text("".join(f"{operation.line()}\n" for operation in operations))
    refused = sum((client.refused for client in clients), Counter[str]())
    answered = [one.answered - one.call for one in operations if one.answered is not None]
    print(f"members {members}, seed {seed}: {tally.rounds} rounds, {tally.kills} kills, {tally.lost} for good, {tally.unsteady} rounds while servers split or merged")
    print(f"  {tally.splits} splits and {tally.merges} merges were seen; {len(operations):,} operations, {len(operations) - len(answered):,} never answered, ", end="")
    print(f"longest {max(answered, default=0) / 1e9:.2f} s; refused: {dict(refused) or 'none'}")
    wrong += [f"refused {count} times: {error}" for error, count in refused.items() if not error.startswith("CLUSTERDOWN")]
    judged = subprocess.run([judge, history], capture_output=True, text=True, timeout=3_600)
    print(f"  {judged.stdout.splitlines()[-1] if judged.stdout else judged.stderr}", flush=True)
    if judged.returncode:
        (directory / "verdict").write_text(judged.stdout)
        wrong += [line for line in judged.stdout.splitlines() if not line.startswith("  ")]
    return tally, wrong


def main() -> int:
    """Play as many rounds as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--servers", type=int, default=SERVERS, help="as many servers all members may have together")
    parser.add_argument("--parity", type=int, choices=(0, 1, 2), default=0, help="as many members may be lost for good at a time")
    parser.add_argument("--command", default=str(Path(sys.executable).with_name("maquette")))
    given = parser.parse_args()
    if shutil.which("go") is None:
        print("Go is not installed, and the checker is written in it", file=sys.stderr)
        return 1
    directory = Path(tempfile.mkdtemp(prefix="rounds."))
    _, wrong = run(given.command, directory, given.members, given.rounds, given.seed, given.servers, given.parity)
    if wrong:
        print("\n".join(wrong[:40]))
        print(f"FAILED: {len(wrong)} things are wrong; history, directories and verdict are in {directory}")
        return 1
    shutil.rmtree(directory)
    print("holds: nothing acknowledged is lost, each key is there once, and the history of each is linearizable")
    return 0


if __name__ == "__main__":
    sys.exit(main())
