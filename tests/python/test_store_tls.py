"""TLS of the store: with redis-py, redis-cli, the Maquette client and commands, and HTTPS; and clients and members that are refused."""

import json
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maquette.store import Client, NoAnswer
from pools import CAPACITY, COMMAND, LIMIT, Member, pool_of, port_of, redis, server_count, wait_until


class Certificates:
    """A CA in a directory, and certificates that it has signed: by openssl, as in the guide."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self._make("ca", "/CN=our CA")
        names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
        signed = ["-CA", self.path("ca.pem"), "-CAkey", self.path("ca.key"), "-addext", "basicConstraints=critical,CA:FALSE"]
        self._make("our", "/CN=our store", *signed, "-addext", names)
        self._make("client", "/CN=a client", *signed)
        #: The options of a store with these certificates.
        self.options = ["--tls-certificate", self.path("our.pem"), "--tls-key", self.path("our.key")]

    def _make(self, name: str, subject: str, *options: str) -> None:
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        command += ["-subj", subject, "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.pem"), *options]
        made = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        assert made.returncode == 0, f"openssl does not sign as it has since version 3: {made.stderr}"

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def redis_options(self) -> dict[str, Any]:
        """The options of redis-py."""
        return {"ssl": True, "ssl_ca_certs": self.path("ca.pem")}

    def redis_options_with_certificate(self) -> dict[str, Any]:
        """The same, with a client certificate."""
        return {**self.redis_options(), "ssl_certfile": self.path("client.pem"), "ssl_keyfile": self.path("client.key")}

    def own_client_options(self) -> dict[str, str]:
        """The options of the Maquette client."""
        return {"tls_ca": self.path("ca.pem")}

    def own_client_options_with_certificate(self) -> dict[str, str]:
        """The same, with a client certificate."""
        return {**self.own_client_options(), "tls_certificate": self.path("client.pem"), "tls_key": self.path("client.key")}

    def context(self) -> ssl.SSLContext:
        """The TLS context for the standard library."""
        return ssl.create_default_context(cafile=self.path("ca.pem"))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of a CA that nobody trusts."""
    return Certificates(tmp_path_factory.mktemp("tls") / "others")


@pytest.fixture(scope="module")
def member(ours: Certificates) -> Iterator[Member]:
    """A store that speaks TLS and serves pages."""
    with pool_of(1, *ours.options, "--http", "0", client_options=ours.redis_options()) as members:
        yield members[0]


def test_redis_py_needs_only_the_ca(member: Member) -> None:
    with member.client() as client:
        assert client.set("a", "1") and client.incr("a") == 2
        with client.pipeline(transaction=False) as pipeline:
            for number in range(2_000):
                pipeline.set(f"key:{number}", number)
            pipeline.execute()
        assert client.mget(f"key:{number}" for number in range(2_000)) == [str(number) for number in range(2_000)]
        large = "x" * 20_000_000
        assert client.set("large", large) and client.get("large") == large and client.delete("large")


def test_many_clients_at_once(member: Member) -> None:
    failures: list[str] = []

    def count() -> None:
        try:
            with member.client() as own:
                for _ in range(100):
                    own.incr("shared")
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=count) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    with member.client() as client:
        assert not failures and client.get("shared") == "1600"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_close_the_connection_cleanly(member: Member, ours: Certificates, version: ssl.TLSVersion) -> None:
    context = ours.context()
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", member.port), timeout=LIMIT) as plain:
        # Without close_notify the end would be an error.
        with context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as client:
            client.sendall(b"PING\r\nQUIT\r\n")
            replies = b""
            while piece := client.recv(100):
                replies += piece
            assert replies == b"+PONG\r\n+OK\r\n" and client.version() == version.name.replace("v1_", "v1.")


def test_a_store_that_ends_closes_connections_cleanly(ours: Certificates) -> None:
    with pool_of(1, *ours.options, client_options=ours.redis_options()) as members:
        with socket.create_connection(("127.0.0.1", members[0].port), timeout=LIMIT) as plain:
            with ours.context().wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as client:
                client.sendall(b"PING\r\n")
                assert client.recv(100) == b"+PONG\r\n"
                members[0].process.terminate()
                assert client.recv(100) == b""


def certificate_of(port: int) -> bytes:
    """The certificate that a new connection gets, whatever CA has signed it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as plain, context.wrap_socket(plain) as client:
        certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    return certificate


def test_certificates_are_read_again_without_a_restart(tmp_path: Path) -> None:
    (first, second), current = (Certificates(tmp_path / name) for name in ("first", "second")), tmp_path / "current"
    shutil.copytree(first.directory, current)
    files = ["--tls-certificate", str(current / "our.pem"), "--tls-key", str(current / "our.key"), "--tls-members-ca", str(current / "ca.pem")]
    with pool_of(2, *files, client_options=first.redis_options()) as members, members[0].client() as early:
        assert early.set("a", "1")
        before = certificate_of(members[0].port)
        shutil.copytree(second.directory, current, dirs_exist_ok=True)
        assert certificate_of(members[0].port) == before
        for member in members:
            member.process.send_signal(signal.SIGHUP)
        wait_until(lambda: all(certificate_of(member.port) != before for member in members), "new certificates are used")
        after = certificate_of(members[0].port)
        members.append(Member("--join", members[0].members, *files, client_options=second.redis_options()))
        wait_until(lambda: members[2].pool()["pool_members"] == 3, "a member with another CA is admitted")
        with redis.Redis(port=members[0].port, decode_responses=True, **second.redis_options()) as late:
            assert (early.get("a"), late.get("a")) == ("1", "1")
        (current / "our.key").write_text("nothing of use")
        members[0].process.send_signal(signal.SIGHUP)
        line = next(line for line in iter(lambda: members[0].lines(1)[0], "") if "stay as they were" in line)
        assert "ERROR certificates and keys stay as they were: " in line and "our.key" in line and "no private key" in line
        assert certificate_of(members[0].port) == after and early.get("a") == "1"


def test_redis_cli_speaks_tls(member: Member, ours: Certificates) -> None:
    program = shutil.which("redis-cli")
    if program is None or "--cacert" not in subprocess.run([program, "--help"], capture_output=True, text=True).stdout:
        pytest.skip("redis-cli is not installed, or was built without TLS")
    command = [program, "--tls", "--cacert", ours.path("ca.pem"), "-p", str(member.port)]
    done = subprocess.run([*command, "ECHO", "hello"], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout == "hello\n"


def test_clients_that_follow_slots_use_tls(ours: Certificates) -> None:
    with pool_of(3, *ours.options, client_options=ours.redis_options()) as members:
        cluster = redis.RedisCluster(host="127.0.0.1", port=members[0].slots, decode_responses=True, socket_timeout=LIMIT, **ours.redis_options())
        for number in range(3 * CAPACITY):
            cluster.set(f"key:{number}", number)
        wait_until(lambda: server_count(members) == 3, "there are three servers")
        assert all(cluster.get(f"key:{number}") == str(number) for number in range(3 * CAPACITY))
        cluster.close()
        # Any member fetches the other records, over links that need no certificates.
        with members[2].client() as client:
            assert client.mget([f"key:{number}" for number in range(100)]) == [str(number) for number in range(100)]


def test_members_speak_tls_with_each_other_if_required(ours: Certificates, others: Certificates) -> None:
    options = [*ours.options, "--tls-members-ca", ours.path("ca.pem")]
    with pool_of(3, *options, client_options=ours.redis_options()) as members:
        with members[1].client() as client:
            for number in range(3 * CAPACITY):
                client.set(f"key:{number}", number)
            wait_until(lambda: server_count(members) == 3, "there are three servers")
            large = "x" * 3_000_000
            assert client.mset({f"large:{number}": large for number in range(5)})
        with members[2].client() as client:
            assert client.mget([f"key:{number}" for number in range(3 * CAPACITY)]) == [str(number) for number in range(3 * CAPACITY)]
            assert client.mget([f"large:{number}" for number in range(5)]) == [large] * 5
        plain = Member("--join", members[0].members)
        strangers = Member("--join", members[0].members, *others.options, "--tls-members-ca", ours.path("ca.pem"), client_options=others.redis_options())
        trusting = Member("--join", members[0].members, *others.options, "--tls-members-ca", others.path("ca.pem"), client_options=others.redis_options())
        for member, reason in ((plain, "the other side speaks TLS"), (strangers, "alert"), (trusting, "invalid peer certificate")):
            try:
                # The first line says that it listens.
                assert "not admitted yet" in (line := member.lines(2)[1]) and reason in line, line
            finally:
                member.process.terminate()
                member.process.communicate(timeout=LIMIT)
        with socket.create_connection(("127.0.0.1", port_of(members[0].members)), timeout=LIMIT) as stranger:
            stranger.sendall(b"maquette store 1\n" + bytes(32))
            # An alert, and no message of a member.
            assert everything(stranger).startswith(b"\x15\x03")


def test_a_store_with_data_speaks_tls(ours: Certificates, tmp_path: Path) -> None:
    for expected in (None, "1"):
        with pool_of(1, *ours.options, "--data", str(tmp_path / "records"), "--fsync", "always", client_options=ours.redis_options()) as members:
            with members[0].client() as client:
                assert client.get("a") == expected and client.set("a", "1")


def test_a_client_refuses_a_ca_that_it_does_not_trust(member: Member, others: Certificates) -> None:
    with redis.Redis(port=member.port, **others.redis_options()) as client, pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        client.ping()


def test_clients_that_do_not_speak_tls_are_disconnected_and_counted(ours: Certificates) -> None:
    with pool_of(1, *ours.options, "--http", "0", client_options=ours.redis_options()) as members:
        assert "by TLS except for members" in members[0].lines(1)[0]
        for port in (members[0].port, members[0].slots, port_of(members[0].startup["http"][0])):
            with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as client:
                client.sendall(b"*1\r\n$4\r\nPING\r\n")
                assert b"PONG" not in everything(client)
            assert members[0].lines(1)[0].endswith("what came is not TLS")
        assert b"\nmaquette_store_tls_failures_total 3\n" in page(members[0], "/metrics", ours)


def test_clients_that_do_not_finish_the_handshake_in_time_are_disconnected(ours: Certificates) -> None:
    with pool_of(1, *ours.options, "--authenticate-within", "1", client_options=ours.redis_options()) as members:
        with members[0].client() as known, socket.create_connection(("127.0.0.1", members[0].port), timeout=LIMIT) as client:
            assert known.ping()
            client.sendall(b"\x16\x03\x01")
            everything(client)
            assert known.ping()


def test_clients_must_show_a_certificate_if_required(ours: Certificates, others: Certificates) -> None:
    options = [*ours.options, "--tls-clients-ca", ours.path("ca.pem")]
    with pool_of(1, *options, client_options=ours.redis_options_with_certificate()) as members:
        with members[0].client() as client:
            assert client.set("a", "1") and client.get("a") == "1"
        strangers = {**ours.redis_options(), "ssl_certfile": others.path("client.pem"), "ssl_keyfile": others.path("client.key")}
        for options_of_client in (ours.redis_options(), strangers):
            with redis.Redis(port=members[0].port, **options_of_client) as client, pytest.raises(redis.ConnectionError):
                client.ping()


def test_a_password_is_required_even_with_tls(ours: Certificates, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    with_password = {**ours.redis_options(), "password": "secret"}
    with pool_of(1, *ours.options, "--password-file", str(tmp_path / "password"), client_options=with_password) as members:
        with members[0].client() as client:
            assert client.ping()
        with redis.Redis(port=members[0].port, **ours.redis_options()) as client, pytest.raises(redis.AuthenticationError):
            client.ping()


def test_the_maquette_client_follows_slots_by_tls(ours: Certificates) -> None:
    options = [*ours.options, "--tls-clients-ca", ours.path("ca.pem")]
    with pool_of(3, *options, client_options=ours.redis_options_with_certificate()) as members:
        with Client(f"127.0.0.1:{members[1].port}", timeout=LIMIT, **ours.own_client_options_with_certificate()) as store:
            for number in range(3 * CAPACITY):
                store.set(f"key:{number}", number)
            with store.pipeline() as pipeline:
                for number in range(3 * CAPACITY):
                    pipeline.get(f"key:{number}")
                assert pipeline.execute() == [str(number).encode() for number in range(3 * CAPACITY)]
            large = b"x" * 5_000_000
            store.set("large", large)
            assert store.get("large") == large and store.counts.adjustments >= 2
        with pytest.raises(NoAnswer, match="CertificateRequired"):
            Client(f"127.0.0.1:{members[1].port}", timeout=LIMIT, **ours.own_client_options())


def test_the_maquette_client_trusts_no_other_ca(member: Member, ours: Certificates, others: Certificates) -> None:
    address = f"127.0.0.1:{member.port}"
    with pytest.raises(NoAnswer, match="invalid peer certificate"):
        Client(address, timeout=LIMIT, **others.own_client_options())
    with pytest.raises(NoAnswer, match="another.test"):
        Client(address, timeout=LIMIT, tls_name="another.test", **ours.own_client_options())
    with Client(address, timeout=LIMIT, tls_name="localhost", **ours.own_client_options()) as store:
        assert store.execute("PING") == b"PONG"
    with pytest.raises(NoAnswer, match="does not answer like a store"):
        Client(address, timeout=LIMIT)


def test_files_that_can_not_be_used_are_named(ours: Certificates, others: Certificates) -> None:
    with pytest.raises(OSError, match=r"cannot read `nowhere\.pem`"):
        Client(tls_ca="nowhere.pem")
    with pytest.raises(ValueError, match="found no certificate"):
        Client(tls_ca=ours.path("ca.key"))
    with pytest.raises(ValueError, match="found a key that does not belong to the certificate"):
        Client(tls_ca=ours.path("ca.pem"), tls_certificate=ours.path("client.pem"), tls_key=others.path("client.key"))
    with pytest.raises(ValueError, match="allowed are both, or none"):
        Client(tls_ca=ours.path("ca.pem"), tls_key=ours.path("client.key"))
    with pytest.raises(ValueError, match="tls_ca: found None"):
        Client(tls_name="localhost")
    command = [str(COMMAND), "store", "serve", "--port", "0", "--tls-certificate", ours.path("our.pem"), "--tls-key", others.path("our.key")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 2 and "listening" not in done.stderr
    assert done.stderr.count("\n") == 1 and others.path("our.key") in done.stderr and ours.path("our.pem") in done.stderr


def test_the_maquette_commands_speak_tls(ours: Certificates) -> None:
    options = [*ours.options, "--tls-clients-ca", ours.path("ca.pem")]
    tls = ["--tls-ca", ours.path("ca.pem"), "--tls-certificate", ours.path("client.pem"), "--tls-key", ours.path("client.key")]

    def store_command(*arguments: str) -> dict[str, Any]:
        done = subprocess.run([COMMAND, "store", *arguments, *tls, "--json"], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    with pool_of(2, *options, client_options=ours.redis_options_with_certificate()) as members:
        address = f"127.0.0.1:{members[0].port}"
        assert store_command("grow", address, "1")["servers"] == 2
        assert len(store_command("status", address)["members"]) == 2
        # It checks every reply.
        tests = store_command("bench", address, "--requests", "2000", "--keys", "300", "--pipeline", "16")["tests"]
        assert [test["test"] for test in tests] == ["set", "get", "mix"] and all(test["wrong"] == 0 for test in tests)
        assert store_command("shrink", address, "1")["servers"] == 1
        done = subprocess.run([COMMAND, "store", "status", address], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 1 and "does not answer like a store" in done.stderr


def test_pages_are_served_by_https(member: Member, ours: Certificates, others: Certificates) -> None:
    assert page(member, "/healthz", ours) == b"ok\n"
    assert len(page(member, "/", ours)) > 10_000
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        page(member, "/healthz", others)


def page(member: Member, path: str, certificates: Certificates) -> bytes:
    address = f"https://127.0.0.1:{port_of(member.startup['http'][0])}{path}"
    with urllib.request.urlopen(address, context=certificates.context(), timeout=LIMIT) as response:
        return bytes(response.read())


def everything(client: socket.socket) -> bytes:
    """Everything that a client receives until the connection ends."""
    received = b""
    try:
        while piece := client.recv(1_000):
            received += piece
    except ConnectionResetError:
        pass
    return received
