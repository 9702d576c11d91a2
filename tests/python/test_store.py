"""The store with the clients redis-py and redis-cli, and with the same replies as a real redis-server."""

import random
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stores import LIMIT, free_port, running

redis = pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

COMMAND = Path(sys.executable).with_name("maquette")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of the store."""
    with running([str(COMMAND), "store", "serve"]) as (port, _):
        yield port


@pytest.fixture
def store(port: int) -> Iterator[Any]:
    """A client of the store, emptied before."""
    with redis.Redis(port=port, decode_responses=True) as client:
        client.flushall()
        yield client


@pytest.fixture(scope="module")
def other() -> Iterator[int]:
    """The port of a real redis-server."""
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("redis-server is not installed: scripts/need redis")
    with running([server, "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]) as (port, _):
        yield port


#: Requests that are sent to both, one after another. Other tests cover replies that contain times or have no order.
SAME = r"""
SET a 1 | SET a 2 NX | SET a 2 XX GET | SET b 2 XX | SET b 2 NX GET | SET c 3 NX XX | SET c 3 EX 10 PX 10 | SET c 3 EX | SET c 3 EX x
SET c 3 EX 0 | SET c 3 EX -1 | SET c 3 PX 9223372036854775807 | SET c 3 EX 9223372036854775807 | SET c 3 EX 100 | SET c 4 KEEPTTL | TTL c
SET c 1 KEEPTTL EX 1 | SET c 5 EXAT 99999999999 | TTL a | EXPIRETIME c | PEXPIRETIME c | GETEX c PERSIST | TTL c | GETEX c EX 0
GETEX c EXAT 99999999999 | GETEX c PERSIST EX 1 | GETEX nothing | GETEX c NX | PERSIST c | PERSIST c | SETEX d 0 x | SETEX d x x
PSETEX d 100000 x | SETNX d y | SETNX e y | GETSET d z | TTL d | GETSET n1 z | GETDEL d | GETDEL d | MSET a 1 b | MSET | MSET a 1 b 2 a 3
MSETNX a 1 z 2 | MSETNX y 1 z 2 | MSETNX y | MGET a nothing z | MGET | APPEND s Hello | APPEND s " World" | STRLEN s | STRLEN nothing
GETRANGE s 0 4 | GETRANGE s -5 -1 | GETRANGE s 5 2 | GETRANGE s -1 -5 | GETRANGE s 0 99 | GETRANGE s x 1 | GETRANGE nothing 0 -1
SUBSTR s 1 2 | SETRANGE s 6 Redis | GET s | SETRANGE s -1 x | SETRANGE s 536870911 xx | SETRANGE nothing 5 "" | EXISTS nothing
SETRANGE padded 5 x | GET padded | INCR n | INCRBY n 9 | DECR n | DECRBY n 10 | DECRBY n -9223372036854775808 | INCRBY n x
INCRBY n -9223372036854775808 | INCR s | SET big 9223372036854775807 | INCR big | SET zero 007 | INCR zero | SET space " 7" | INCR space
INCRBYFLOAT f 10.5 | INCRBYFLOAT f 0.1 | INCRBYFLOAT f -5 | INCRBYFLOAT f 5.0e1 | INCRBYFLOAT f x | INCRBYFLOAT f inf | INCRBYFLOAT s 1
EXISTS a a nothing | TOUCH a nothing | TYPE a | TYPE nothing | DEL a nothing | UNLINK b nothing
SET a 1 | EXPIRE a 100 XX | EXPIRE a 100 GT | EXPIRE a 100 LT | EXPIRE a 200 LT | EXPIRE a 200 GT | EXPIRE a 200 NX | EXPIRE a 1 NX GT
EXPIRE a 1 LT GT | EXPIRE a 1 NN | EXPIRE a x | EXPIRE a 9223372036854775807 | PEXPIRE a 9223372036854775807 | EXPIRE nothing 1
EXPIREAT a 99999999999 | PEXPIREAT a 99999999999999 XX | PEXPIRETIME a | EXPIRE a 1 XX LT | EXPIRE a 1 NX XX | PERSIST a | EXPIRE a -1
EXISTS a | PEXPIRE nothing -1 | TTL nothing | PTTL nothing | EXPIRETIME nothing | EXPIRETIME s | RENAME nothing x | RENAME s t
RENAMENX t y | RENAMENX t t | RENAME t t | RENAMENX nothing x | COPY t u | COPY t u | COPY t u REPLACE | COPY t u DB 0 REPLACE | COPY t t
COPY nothing x | COPY t u WRONG | OBJECT ENCODING n | OBJECT ENCODING e | OBJECT ENCODING nothing | OBJECT REFCOUNT nothing
OBJECT IDLETIME u | OBJECT FREQ u | OBJECT NOSUCH u | OBJECT ENCODING | MEMORY USAGE nothing | SCAN x | SCAN 0 COUNT 0 | SCAN 0 COUNT
SCAN 0 NOSUCH 1 | SCAN 0 COUNT 1000 TYPE list | SCAN 0 COUNT 1000 MATCH pad* | KEYS pad* | KEYS | SELECT 0 | SELECT 99 | SELECT x
ECHO hello | ECHO | PING | PING hello | PING a b | AUTH x | AUTH default x | AUTH other x | AUTH a b c | HELLO 4 | HELLO x
HELLO 2 NOSUCH | NOSUCH a b | NOSUCH | GET | GET a b | SET a | CLIENT NOSUCH | CLIENT SETNAME | CLIENT SETNAME "a b" | CLIENT GETNAME
CLIENT SETNAME name | CLIENT GETNAME | CLIENT KILL 9.9.9.9:1 | CLIENT KILL ID x | CLIENT KILL ID 99999 | CLIENT LIST TYPE x | CLIENT REPLY x
CONFIG GET maxmemory | CONFIG GET maxmemory-policy | CONFIG GET nosuch | CONFIG SET nosuch 1 | CONFIG SET maxmemory x
CONFIG SET maxmemory 100mb | CONFIG GET maxmemory | CONFIG SET maxmemory 0 | CONFIG SET | CONFIG RESETSTAT | CONFIG NOSUCH
COMMAND GETKEYS MSET a 1 b 2 | COMMAND GETKEYS PING x | COMMAND GETKEYS NOSUCH a | COMMAND GETKEYS GET a | COMMAND GETKEYS GET
COMMAND GETKEYS GET a b | WAIT 0 -1
FUNCTION FLUSH | FUNCTION FLUSH x | FUNCTION LIST | DBSIZE | MULTI | MULTI | SET a 1 | INCR a | GET a | WATCH a | EXEC | EXEC | DISCARD
MULTI | NOSUCH | SET a 5 | EXEC | GET a | MULTI | INCR padded | GET a | EXEC | WATCH a | UNWATCH | WATCH | MULTI | DISCARD | WAIT 0 x
WATCH a | SET a 6 | MULTI | GET a | EXEC | FLUSHALL x | FLUSHDB SYNC | DBSIZE | FLUSHALL ASYNC | RANDOMKEY | RESET | PING
SAVE x | BGSAVE x | BGSAVE SCHEDULE x | LASTSAVE x | BGREWRITEAOF x
SET b foobar | BITCOUNT b | BITCOUNT b 0 | BITCOUNT b 0 0 | BITCOUNT b 1 1 BYTE | BITCOUNT b 5 30 BIT | BITCOUNT b 5 -5 bit | BITCOUNT b -3 -5
BITCOUNT b 0 0 BITS | BITCOUNT b x 1 | BITCOUNT b 0 1 BYTE x | BITCOUNT nothing | SETBIT m 7 1 | SETBIT m 7 0 | GETBIT m 7 | GETBIT m 100
GETBIT nothing 0 | GETBIT b x | GETBIT b -1 | SETBIT b -1 1 | SETBIT b 4294967296 1 | SETBIT b 1 2 | SETBIT b 1 x | SETBIT m 100 1 | GET m
SET p "\xff\xf0\x00" | BITPOS p 0 | BITPOS p 1 | BITPOS p 0 1 | BITPOS p 1 2 | BITPOS p 0 0 0 | BITPOS p 1 0 -1 BIT | BITPOS p 0 7 15 BIT
BITPOS p 0 -1 -2 | BITPOS p 2 | BITPOS p x | BITPOS p 1 0 1 NOSUCH | BITPOS nothing 0 | BITPOS nothing 1 | SET f "\xff\xff" | BITPOS f 0
BITPOS f 0 0 | BITPOS f 0 0 -1 | BITPOS f 0 5 | BITOP AND to b p | GET to | BITOP OR to b p nothing | GET to | BITOP XOR to b p f | GET to
BITOP NOT to p | GET to | BITOP NOT to p b | BITOP NOSUCH to p | BITOP AND to | BITOP OR to nothing | EXISTS to | BITOP and p p b | GET p
BITFIELD h INCRBY i5 100 1 GET u4 0 | BITFIELD h SET u8 0 255 GET u8 0 SET i8 #1 -3 GET i8 8 GET u63 0 | GET h | BITFIELD h
BITFIELD h OVERFLOW SAT INCRBY u2 102 5 OVERFLOW FAIL INCRBY u2 102 1 OVERFLOW WRAP INCRBY u2 102 1 | BITFIELD h GET u64 0 | BITFIELD h GET i65 0
BITFIELD h GET i64 0 SET i64 0 -9223372036854775808 OVERFLOW SAT INCRBY i64 0 -1 | BITFIELD h OVERFLOW NOSUCH | BITFIELD h GET u8 -1
BITFIELD h GET u8 | BITFIELD h SET u8 0 | BITFIELD h SET u8 0 x | BITFIELD h OVERFLOW FAIL SET u4 0 17 OVERFLOW SAT SET u4 0 17 SET u4 4 -1
BITFIELD_RO h GET i8 3 GET u16 #2 | BITFIELD_RO h SET u8 0 1 | BITFIELD_RO nothing GET u8 9 | BITFIELD h GET u8 #99999999999999 | GET h
SET x ohmytext | SET y mynewtext | LCS x y | LCS x y LEN | LCS x y IDX | LCS x y IDX MINMATCHLEN 4 | LCS x y IDX MINMATCHLEN 4 WITHMATCHLEN
LCS x y IDX WITHMATCHLEN | LCS x y LEN IDX | LCS x nothing | LCS nothing other IDX | LCS x y MINMATCHLEN | LCS x y NOSUCH | LCS x | LCS x x
SET s "" | BITPOS s 0 | BITCOUNT s 0 -1 | GETBIT s 0 | BITOP NOT to s | COMMAND GETKEYS BITOP AND a b c | COMMAND GETKEYS LCS a b
CONFIG SET maxmemory 1 maxmemory 2 | CONFIG SET maxmemory x MAXMEMORY 1 | CONFIG SET maxmemory 0 nosuch 1 | CONFIG SET proto-max-bulk-len 10mb
CONFIG GET proto-max-bulk-len | SETBIT b 83886080 1 | CONFIG SET proto-max-bulk-len 512MB | CONFIG SET proto-max-bulk-len 1kb2
CONFIG SET maxmemory 10Mb | CONFIG GET maxmemory | CONFIG SET maxmemory "" | CONFIG GET maxmemory | MULTI | SAVE | EXEC | MULTI | PING | DISCARD
"""


def requests() -> list[str]:
    """The requests in `SAME`, one per line."""
    return [line.strip() for line in SAME.replace("\n", "|").split("|") if line.strip()]


def read_reply(stream: Any) -> Any:
    """A reply of RESP 2 or 3 as it was sent, with its type."""
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind in b"$=" and rest != b"-1":
        return kind, stream.read(int(rest) + 2)[:-2]
    if kind in b"*~%>" and rest != b"-1":
        return kind, [read_reply(stream) for _ in range(int(rest) * (2 if kind == b"%" else 1))]
    return kind, rest


def replies(port: int, first: list[str]) -> list[tuple[str, Any]]:
    """The replies of a server to the requests in `SAME`, which follow some others."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection, connection.makefile("rb") as stream:
        received = []
        for request in [*first, *requests()]:
            connection.sendall(request.encode() + b"\r\n")
            received.append((request, read_reply(stream)))
        return received[len(first) :]


@pytest.mark.parametrize("version", ["2", "3"])
def test_replies_are_those_of_redis(port: int, other: int, version: str) -> None:
    first = ["FLUSHALL", f"HELLO {version}"]
    ours, theirs = replies(port, first), replies(other, first)
    different = [(request, a, b) for (request, a), (_, b) in zip(ours, theirs, strict=True) if a != b]
    assert not different, "\n".join(f"{request}: ours {a}, theirs {b}" for request, a, b in different)


#: A value of a few bytes in which some bits are alike.
BYTES = [b"", b"\x00", b"\xff", b"\xff\xff\xf0", b"\x00\x00\x01", b"foobar", b"\x80\x00\x00\x00\x00\x00\x00\x00\x01" * 3]


def request_about_bits(chance: random.Random) -> list[bytes | str]:
    """A random request about the bits of values."""
    key, other = chance.choice("abc"), chance.choice("abcd")

    def place() -> str:
        return str(chance.randrange(-300, 300))

    kind = chance.choice("iu") + str(chance.randrange(1, 66))
    number = str(chance.choice([chance.randrange(-300, 300), chance.randrange(-(2**63), 2**63)]))
    field = chance.choice([["GET", kind, place()], ["SET", kind, place(), number], ["INCRBY", kind, f"#{place()}", number]])
    return chance.choice(
        [
            ["SET", key, chance.choice(BYTES)],
            ["SETBIT", key, str(chance.randrange(200)), chance.choice("01")],
            ["GETBIT", key, str(chance.randrange(200))],
            ["BITCOUNT", key, place(), place(), chance.choice(["BIT", "BYTE"])],
            ["BITPOS", key, chance.choice("01"), place()],
            ["BITPOS", key, chance.choice("01"), place(), place(), chance.choice(["BIT", "BYTE"])],
            ["BITOP", chance.choice(["AND", "OR", "XOR"]), key, other, chance.choice("abcd")],
            ["BITOP", "NOT", key, other],
            ["BITFIELD", key, "OVERFLOW", chance.choice(["WRAP", "SAT", "FAIL"]), *field, *field],
            ["LCS", key, other, *chance.choice([[], ["LEN"], ["IDX"], ["IDX", "WITHMATCHLEN", "MINMATCHLEN", "2"]])],
            ["GET", key],
        ]
    )


def test_bits_of_values_are_those_of_redis(port: int, other: int) -> None:
    chance = random.Random(1)

    def reply(client: Any, request: list[bytes | str]) -> Any:
        try:
            return client.execute_command(*request)
        except redis.ResponseError as error:
            return str(error)

    ours: Any = redis.Redis(port=port)
    theirs: Any = redis.Redis(port=other)
    with ours, theirs:
        ours.flushall()
        theirs.flushall()
        for _ in range(4_000):
            request = request_about_bits(chance)
            assert reply(ours, request) == reply(theirs, request), request


def test_redis_py_works_unchanged(store: Any) -> None:
    assert store.set("a", "1", px=60_000) and store.incr("a") == 2 and 0 < store.pttl("a") <= 60_000
    assert store.mset({f"key:{number}": number for number in range(1000)})
    assert store.dbsize() == 1001
    assert sorted(store.scan_iter(match="key:99*", count=50)) == sorted(["key:99", *(f"key:99{digit}" for digit in range(10))])
    with store.pipeline() as pipeline:
        assert pipeline.set("b", "x").get("b").incrbyfloat("c", 0.5).execute() == [True, "x", 0.5]
    store.transaction(lambda pipeline: pipeline.set("b", pipeline.get("a")), "a")
    with pytest.raises(redis.ResponseError, match="not an integer"):
        store.set("b", "text") and store.incr("b")
    with pytest.raises(redis.WatchError), store.pipeline() as pipeline:
        pipeline.watch("a")
        store.set("a", "3")
        pipeline.multi()
        pipeline.get("a")
        pipeline.execute()
    assert store.info("memory")["used_memory"] > 50_000 and store.info()["db0"]["keys"] == 1003
    assert store.client_list() and store.config_get("maxmemory") == {"maxmemory": "0"}


def test_version_3_of_the_protocol(port: int) -> None:
    with redis.Redis(port=port, protocol=3) as client:
        assert client.execute_command("HELLO")[b"proto"] == 3
        assert client.set("a", b"\x00\r\n\xff") and client.get("a") == b"\x00\r\n\xff"


def test_large_values_and_many_clients(store: Any, port: int) -> None:
    large = b"x" * 50_000_000
    with redis.Redis(port=port) as client:
        assert client.set("large", large) and client.get("large") == large

    def count() -> None:
        with redis.Redis(port=port) as own:
            for _ in range(200):
                own.incr("shared")

    threads = [threading.Thread(target=count) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert store.get("shared") == "3200"


def test_a_client_that_closes_its_side_is_answered_and_disconnected(port: int) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as client:
            client.sendall(b"PING\r\n")
            client.shutdown(socket.SHUT_WR)
            assert client.recv(100) == b"+PONG\r\n" and client.recv(100) == b""


def test_clients_without_the_password_are_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    with running([str(COMMAND), "store", "serve", "--password-file", str(tmp_path / "password")]) as (port, _):
        with redis.Redis(port=port) as client, pytest.raises(redis.AuthenticationError):
            client.get("a")
        with redis.Redis(port=port, password="wrong") as client, pytest.raises(redis.AuthenticationError):
            client.get("a")
        with redis.Redis(port=port, password="secret", client_name="one") as client:
            assert client.ping() and client.client_getname() in ("one", b"one")


def test_redis_cli_works_unchanged(store: Any, port: int) -> None:
    program = shutil.which("redis-cli")
    if program is None:
        pytest.skip("redis-cli is not installed: scripts/need redis")

    def cli(*arguments: str) -> str:
        done = subprocess.run([program, "-p", str(port), *arguments], capture_output=True, text=True, timeout=LIMIT, check=True)
        return done.stdout.strip()

    assert cli("set", "a", "1") == "OK" and cli("get", "a") == "1" and cli("--scan") == "a"
    assert "redis_version" in cli("info") and cli("-3", "config", "get", "save") != ""
    assert "keys" in cli("--bigkeys") and cli("memory", "usage", "a").isdigit()


def test_sigterm_ends_it() -> None:
    port = free_port()
    command = [str(COMMAND), "store", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None and "listening on 127.0.0.1" in process.stderr.readline()
    process.terminate()
    assert process.wait(LIMIT) == 0
    assert " INFO ends after 0 requests in " in process.communicate(timeout=LIMIT)[1]
