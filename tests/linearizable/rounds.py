"""Stores with `--data`, killed again and again under load: nothing acknowledged is lost, and histories are linearizable.

    .venv/bin/python tests/linearizable/rounds.py --members 3 --rounds 200 --seed 1 [--command target/release/maquette]
    .venv/bin/python tests/linearizable/rounds.py --members 4 --rounds 200 --seed 1 --parity 1
    .venv/bin/python tests/linearizable/rounds.py --members 4 --rounds 200 --seed 1 --parity 2

Real processes serve a table with `--data` and `--fsync always`, and clients of redis-py use any of the members. They write, read, count and
delete keys that they share, and keys of their own, so many that the table grows and shrinks. In each round one random member, or all of them,
are killed by SIGKILL, often while servers split or merge, and started again. With `--parity 1` there are also a parity member and a spare, all
have `--fsync never`, and in some rounds a member that hosts servers is killed and its directory destroyed: it is rebuilt on the spare, and
started again as a new spare. With `--parity 2` there are two of each, and two members are lost in this way, one after the other, one of which
may be a parity member. At the end

- each key that only one client uses has the value that was acknowledged last, or that of a later request that was never answered,
- each key exists exactly once, whichever member is asked, and the servers have as many records as there are keys,
- Porcupine finds the history of each key linearizable. A request that was never answered may have been carried out at any time, or not at all.

Exit status: 0 if all of that is true, else 1; the history, the directories and the logs of the members are then kept.
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
#: The capacity of a server, in records.
CAPACITY = 50
#: The default number of servers that all members together may host.
SERVERS = 12
#: Clients, shared keys of each kind, and keys that only one client uses, per client.
CLIENTS, SHARED, OWN = 6, 3, 100
#: After this many rounds other keys are shared, so that each has few requests that were never answered.
ROUNDS_OF_KEYS = 5
#: How long the table grows, and then shrinks. [s]
GROWTH = 1.5
#: How long a member runs between two kills, and how long it is gone. [s]
BETWEEN, GONE = (0.05, 0.5), (0.0, 0.2)
#: How long to wait, before half of the kills, for a server that splits or merges. [s]
WAIT_FOR_SPLIT = (0.1, 1.0)
#: In this share of rounds a member is stopped before one is killed, so that records that others move to it stay under way.
STOPPED = 0.4
#: Sizes of the values of keys that only one client uses: some are so large that a split takes several messages. [B]
SIZES = (10, 100, 10_000, 100_000)
#: The share of rounds in which a member of a group is lost for good, with its directory.
LOST = 0.3
#: A member of a group that is silent for this long is considered lost: longer than a restart takes. [s]
PARITY_PATIENCE = 2
#: The longest wait for anything: more than the ten seconds after which a member replies CLUSTERDOWN. [s]
LIMIT = 30
#: How long the table must stay unchanged before it is checked. [s]
SETTLED = 1.0


@dataclass
class Operation:
    """A request for one key and its reply: a line of the history."""

    client: int
    key: str
    operation: str
    argument: str | None
    result: str | None
    #: When the request was sent, and when it was answered, if it was. [ns]
    call: int
    # `return` is a keyword of Python.
    answered: int | None

    def line(self) -> str:
        """The operation as a line for the checker."""
        fields = asdict(self)
        fields["return"] = fields.pop("answered")
        return json.dumps(fields)


class Member:
    """A process that can be killed and started again: it keeps its directory and its ports."""

    def __init__(self, command: str, directory: Path, *options: str) -> None:
        self.port, self.members = free_port(), free_port()
        self.directory = directory
        self.log = directory.with_name(f"{directory.name}.stderr")
        self.arguments = [command, "store", "serve", "--json", "--port", str(self.port), "--members-port", str(self.members)]
        self.arguments += ["--slots-port", str(free_port()), "--capacity", str(CAPACITY)]
        self.arguments += ["--data", str(directory), *options]
        #: Splits and merges that were seen: in all runs of the process, and in the current one.
        self.total, self.counted = Counter[str](), Counter[str]()
        self.start()

    def start(self, connects: bool = True) -> None:
        """Start it, and wait until it listens. Members of a group reply only once enough of them are running: then connect to it later."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=log, text=True)
        output: IO[str] | None = self.process.stdout
        assert output is not None
        readable, _, _ = select.select([output], [], [], LIMIT)
        if not readable or not output.readline():
            raise Failure(f"a member did not start: {self.log.read_text()[-2_000:]}")
        self.counted.clear()
        if connects:
            self.observer = self.client()

    def connect(self) -> None:
        """Connect the observer to it, as soon as it answers."""
        end = time.monotonic() + LIMIT
        while not self.is_replaced():
            try:
                self.observer = self.client()
                return
            except redis.ConnectionError:
                if time.monotonic() > end:
                    raise

    def kill(self) -> None:
        """Kill it, as in a crash."""
        if self.process.poll() is not None and not self.is_replaced():
            raise Failure(f"a member ended by itself, with {self.process.returncode}: {self.log.read_text()[-2_000:]}")
        self.process.kill()
        self.process.communicate(timeout=LIMIT)
        self.observer.close()

    def is_replaced(self) -> bool:
        """Whether it has exited because it was rebuilt as another process."""
        return self.process.poll() == 1 and "was rebuilt on another one" in self.log.read_text()[-500:]

    def start_as_spare(self, other: "Member") -> None:
        """Start it with an empty directory, as a spare that joins by another member."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.log.write_text("")
        self.arguments += ["--role", "spare"] if "--role" not in self.arguments else []
        self.arguments += ["--join", f"127.0.0.1:{other.members}"]
        self.start()

    def information(self, section: str) -> dict[str, Any]:
        """A section of its `INFO`. A spare that becomes a lost member ends all connections, and may do so once more to one that comes too early."""
        end, is_connected = time.monotonic() + LIMIT, True
        while True:
            try:
                if not is_connected:
                    self.observer = self.client()
                information: dict[str, Any] = self.observer.info(section)
                return information
            except redis.ConnectionError:
                if time.monotonic() > end:
                    raise
                is_connected = False
                time.sleep(0.05)

    def group(self) -> dict[str, Any]:
        """Its role and state in a group: `INFO parity`."""
        return self.information("parity")

    def client(self) -> Any:
        """A connected client that never retries."""
        never = Retry(NoBackoff(), 0)
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=LIMIT, retry=never, single_connection_client=True)

    def pool(self) -> dict[str, Any]:
        """What it knows about the pool: `INFO pool`."""
        information = self.information("pool")
        for each in ("pool_splits", "pool_merges"):
            self.total[each] += max(0, int(information[each]) - self.counted[each])
            self.counted[each] = int(information[each])
        return information

    def is_steady(self) -> bool:
        """Whether none of its servers splits or merges now."""
        return all(server["steady"] for server in servers(self.pool()))


class Failure(Exception):
    """The store did something that it must not."""


def servers(information: dict[str, Any]) -> list[dict[str, Any]]:
    """The servers of a member, from its `INFO pool`."""
    return [value for key, value in information.items() if key.startswith("server") and isinstance(value, dict)]


class Client(threading.Thread):
    """Uses the table, and records its requests and their replies."""

    def __init__(self, number: int, members: list[Member], seed: int) -> None:
        super().__init__()
        self.number, self.members, self.chance = number, members, random.Random(f"{seed} {number}")
        self.history: list[Operation] = []
        #: The values that each key of its own may have: the acknowledged one, and those of later requests that were not answered.
        self.known: dict[str, set[str | None]] = {}
        #: How often each key of its own was replaced by another because its value was unknown.
        self.replaced: Counter[int] = Counter()
        self.refused: Counter[str] = Counter()
        self.values = 0
        self.round, self.is_over = 0, False
        self.began = time.monotonic()

    def run(self) -> None:
        """Use the table until `is_over` is set."""
        while not self.is_over:
            with suppress(redis.ConnectionError, redis.TimeoutError), self.chance.choice(self.members).client() as client:
                client.ping()
                while not self.is_over:
                    self.use_shared(client) if self.chance.random() < 0.5 else self.use_own(client)
            # A connection to a killed member fails at once: without a pause, retries would take the processor from members that start.
            time.sleep(0.005)

    def use_shared(self, client: Any) -> None:
        """One operation on a shared key."""
        name, number = self.round // ROUNDS_OF_KEYS, self.chance.randrange(SHARED)
        if self.chance.random() < 0.5:
            operation = self.chance.choices(["get", "incr", "del"], [4, 5, 1])[0]
            self.request(client, operation, f"count:{name}:{number}")
        else:
            operation = self.chance.choices(["get", "set", "set-nx", "del"], [5, 3, 1, 1])[0]
            self.request(client, operation, f"text:{name}:{number}", self.value() if operation.startswith("set") else None)

    def use_own(self, client: Any) -> None:
        """One operation on a key that only this client uses."""
        number = self.chance.randrange(OWN)
        key = f"own:{self.number}:{number}:{self.replaced[number]}"
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
            answered = self.request(client, operation, key, value)
        except (redis.ConnectionError, redis.TimeoutError):
            self.replaced[number] += 1
            raise
        if answered:
            self.known[key] = after
        else:
            self.replaced[number] += 1

    def value(self) -> str:
        """A value that was never stored before."""
        self.values += 1
        return f"{self.number}.{self.values}"

    def request(self, client: Any, operation: str, key: str, value: str | None = None) -> bool:
        """Request an operation, and return whether it was carried out."""
        arguments = {"set-nx": ["SET", key, value, "NX"], "set": ["SET", key, value]}.get(operation, [operation.upper(), key])
        requested = Operation(self.number, key, operation, value, None, time.monotonic_ns(), None)
        self.history.append(requested)
        try:
            reply = client.execute_command(*arguments)
        except redis.ResponseError as error:
            # It may have been carried out all the same.
            # Clients that know this error leave its name out of the text.
            name = "CLUSTERDOWN " if isinstance(error, redis.exceptions.ClusterDownError) else ""
            self.refused[name + str(error).removeprefix(name)] += 1
            return False
        requested.answered = time.monotonic_ns()
        requested.result = None if reply is None else "OK" if reply is True else str(reply)
        return True


@dataclass
class Tally:
    """Counts of what happened in the rounds."""

    rounds: int = 0
    kills: int = 0
    #: Kills while servers split or merged.
    unsteady: int = 0
    splits: int = 0
    merges: int = 0
    #: Members that were lost for good.
    lost: int = 0


def state_of_group(members: list[Member]) -> dict[str, Any]:
    """The state of the group according to the parity member that leads; empty if none does."""
    states = [member.group() for member in members if member.process.poll() is None]
    return next((state for state in states if state.get("parity_leads") == 1 and "parity_column0" in state), {})


def is_whole(members: list[Member], parity: int) -> bool:
    """Whether any `parity` members of the group may be lost now, and there are spares for them."""
    state = state_of_group(members)
    columns = [column for name, column in state.items() if name.startswith("parity_column")]
    data = [member for member in (member.group() for member in members) if member["parity_role"] == "data"]
    is_covered = all(column["covered"] and not column["rebuilding"] and column["silent"] < 1_000 for column in columns)
    is_backed = state.get("parity_survives") == parity
    return is_backed and is_covered and len(columns) == len(data) == len(members) - 2 * parity and all(member["parity_covered"] for member in data)


def lose(members: list[Member], parity: int, chance: random.Random, tally: Tally) -> None:
    """Lose `parity` members with their directories, and wait until they are rebuilt."""
    wait_until(lambda: is_whole(members, parity), "members may be lost")
    roles = {id(member): member.group()["parity_role"] for member in members}
    data = [member for member in members if roles[id(member)] == "data"]
    parities = [member for member in members if roles[id(member)] == "parity"]
    victims = chance.sample(data, parity)
    if parity > 1 and chance.random() < 0.5:
        victims[chance.randrange(parity)] = chance.choice(parities)
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
        victim.start_as_spare(others[0])
    wait_until(lambda: is_whole(members, parity), "members may be lost")
    tally.rounds, tally.kills, tally.lost = tally.rounds + 1, tally.kills + parity, tally.lost + parity


def play(members: list[Member], clients: list[Client], rounds: int, chance: random.Random, tally: Tally, parity: int) -> None:
    """Kill members and start them again, for the given number of rounds."""
    for number in range(rounds):
        for client in clients:
            client.round = number
        time.sleep(chance.uniform(*BETWEEN))
        if parity and chance.random() < LOST:
            lose(members, parity, chance, tally)
            continue
        # A group does not reply while the only member that has its parity is stopped. Of two that have it, the other one continues.
        is_safe = parity == 0 or parity == 2 and is_whole(members, parity)
        others = [member for member in members if is_safe or member.group()["parity_role"] != "parity"]
        stopped = [chance.choice(others)] if chance.random() < STOPPED and len(members) > 1 else []
        for member in stopped:
            member.process.send_signal(signal.SIGSTOP)
        running = [member for member in members if member not in stopped]
        deadline = time.monotonic() + (chance.uniform(*WAIT_FOR_SPLIT) if chance.random() < 0.5 else 0)
        while (steady := all(member.is_steady() for member in running)) and time.monotonic() < deadline:
            pass
        tally.unsteady += not steady
        victims = list(members) if chance.random() < 0.1 else [chance.choice(members)]
        for victim in victims:
            victim.kill()
        for member in stopped:
            member.process.send_signal(signal.SIGCONT)
        time.sleep(chance.uniform(*GONE))
        chance.shuffle(victims)
        for victim in victims:
            victim.start(connects=False)
        for victim in victims:
            victim.connect()
        for replaced in (member for member in members if member.is_replaced()):
            replaced.start_as_spare(next(member for member in members if member is not replaced))
        tally.rounds, tally.kills = tally.rounds + 1, tally.kills + len(victims)


def wait_until(condition: Callable[[], bool], description: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"timed out waiting until {description}")
        time.sleep(0.05)


def settle(members: list[Member]) -> None:
    """Wait until no server splits or merges any more."""
    since, before = time.monotonic(), list[Any]()

    def is_settled() -> bool:
        nonlocal since, before
        pools = [member.pool() for member in members]
        now = [(pool["pool_splits"], pool["pool_merges"], servers(pool)) for pool in pools]
        if now != before or not all(member.is_steady() for member in members):
            since, before = time.monotonic(), now
        return time.monotonic() - since > SETTLED

    wait_until(is_settled, "no server splits or merges any more")


def short(value: str | None) -> str:
    """A value without its padding."""
    return "nothing" if value is None else value.rstrip(".")


def errors_in_table(members: list[Member], clients: list[Client]) -> Iterator[str]:
    """The errors in the contents of the table at the end. Reads are added to the history."""
    settle(members)
    reader = Client(len(clients), members, 0)
    known = {key: values for client in clients for key, values in client.known.items()}
    keys = sorted({operation.key for client in clients for operation in client.history})
    found = dict[str, str | None]()
    with members[0].client() as client:
        for key in keys:
            if not reader.request(client, "get", key):
                yield f"{key} can't be read: {reader.refused}"
            found[key] = reader.history[-1].result
    clients.append(reader)
    for key, values in known.items():
        if found[key] not in values:
            yield f"{key} holds {short(found[key])}, and not what was acknowledged last: {sorted(map(short, values))}"
    existing = {key for key, value in found.items() if value is not None}
    for number, member in enumerate(members):
        with member.client() as client:
            scanned = Counter(client.scan_iter(count=100))
            size = client.dbsize()
        for key in sorted((key for key, count in scanned.items() if count > 1)):
            yield f"SCAN of member {number} gives {key} {scanned[key]} times"
        for key in sorted(existing - set(scanned)):
            yield f"SCAN of member {number} does not give {key}, which holds {short(found[key])}"
        for key in sorted(set(scanned) - existing):
            yield f"SCAN of member {number} gives {key}, which was not there"
        if size != len(existing):
            yield f"DBSIZE of member {number} is {size}, and there are {len(existing)} keys"
    records = sum(int(server["records"]) for member in members for server in servers(member.pool()))
    if records != len(existing):
        yield f"the servers have {records} records, and there are {len(existing)} keys"


@contextmanager
def stores(command: str, directory: Path, count: int, servers_at_most: int, parity: int) -> Iterator[list[Member]]:
    """Run a store of several servers, or a pool of several members, until the block is left."""
    members: list[Member] = []
    options = ["--fsync", "never", "--parity", str(parity), "--parity-patience", str(PARITY_PATIENCE)] if parity else ["--fsync", "always"]
    roles = [*([] for _ in range(count)), *(["--role", role] for role in parity * ["parity"] + parity * ["spare"])]
    try:
        for number, role in enumerate(roles):
            join = ["--join", f"127.0.0.1:{members[0].members}"] if members else []
            members.append(Member(command, directory / f"member.{number}", "--servers", str(servers_at_most // count), *options, *role, *join))
        wait_until(lambda: all(member.pool()["pool_members"] == len(roles) for member in members), "all know each other")
        if parity:
            wait_until(lambda: is_whole(members, parity), "members may be lost")
        yield members
    finally:
        for member in members:
            member.process.kill()
            member.process.communicate(timeout=LIMIT)


def build_checker(directory: Path) -> Path:
    """Build the program that checks histories."""
    program = directory / "linearizable"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE, check=True, timeout=600, capture_output=True, text=True)
    return program


def run(
    command: str, directory: Path, members: int, rounds: int, seed: int, servers_at_most: int = SERVERS, parity: int = 0
) -> tuple[Tally, list[str]]:
    """Run all rounds; returns counts and errors. The history is left in the directory."""
    tally, errors, chance = Tally(), list[str](), random.Random(seed)
    checker = build_checker(directory)
    with stores(command, directory, members, servers_at_most, parity) as all_members:
        clients = [Client(number, all_members, seed) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: any(member.pool()["pool_splits"] for member in all_members), "the table grows")
            play(all_members, clients, rounds, chance, tally, parity)
        except (Failure, redis.RedisError) as failure:
            statuses = [member.process.poll() for member in all_members]
            errors.append(f"round {tally.rounds}: {failure!r}; exit status of each member: {statuses}")
        total = sum((member.total for member in all_members), Counter[str]())
        tally.splits, tally.merges = total["pool_splits"], total["pool_merges"]
        for client in clients:
            client.is_over = True
        for client in clients:
            client.join(2 * LIMIT)
        if any(client.is_alive() for client in clients):
            errors.append("a client waits for ever")
        elif not errors:
            try:
                errors += errors_in_table(all_members, clients)
            except (Failure, redis.RedisError) as failure:
                errors.append(f"in the end: {failure!r}")
    history = directory / "history.jsonl"
    operations = [operation for client in clients for operation in list(client.history)]
    operations.sort(key=lambda operation: operation.call)
    history.write_text("".join(f"{operation.line()}\n" for operation in operations))
    refused = sum((client.refused for client in clients), Counter[str]())
    answered = [operation.answered - operation.call for operation in operations if operation.answered is not None]
    print(f"members {members}, seed {seed}: {tally.rounds} rounds, {tally.kills} kills, {tally.lost} for good, {tally.unsteady} rounds while servers split or merged")
    print(f"  {tally.splits} splits and {tally.merges} merges were seen; {len(operations):,} operations, {len(operations) - len(answered):,} never answered, ", end="")
    print(f"longest {max(answered, default=0) / 1e9:.2f} s; refused: {dict(refused) or 'none'}")
    errors += [f"refused {count} times: {error}" for error, count in refused.items() if not error.startswith("CLUSTERDOWN")]
    checked = subprocess.run([checker, history], capture_output=True, text=True, timeout=3_600)
    print(f"  {checked.stdout.splitlines()[-1] if checked.stdout else checked.stderr}", flush=True)
    if checked.returncode:
        (directory / "verdict").write_text(checked.stdout)
        errors += [line for line in checked.stdout.splitlines() if not line.startswith("  ")]
    return tally, errors


def main() -> int:
    """Play the requested number of rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--servers", type=int, default=SERVERS, help="how many servers all members together may host")
    parser.add_argument("--parity", type=int, choices=(0, 1, 2), default=0, help="how many members may be lost for good at a time")
    parser.add_argument("--command", default=str(Path(sys.executable).with_name("maquette")))
    options = parser.parse_args()
    if shutil.which("go") is None:
        print("Go is not installed, and the checker is written in it", file=sys.stderr)
        return 1
    directory = Path(tempfile.mkdtemp(prefix="rounds."))
    _, errors = run(options.command, directory, options.members, options.rounds, options.seed, options.servers, options.parity)
    if errors:
        print("\n".join(errors[:40]))
        print(f"FAILED: {len(errors)} errors; history, directories and verdict are in {directory}")
        return 1
    shutil.rmtree(directory)
    print("holds: nothing acknowledged is lost, each key is there once, and the history of each is linearizable")
    return 0


if __name__ == "__main__":
    sys.exit(main())
