"""What `maquette cast` transfers, refuses and reports."""

import contextlib
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest
from casting import LOOPBACK, TIMEOUT, Site, wait_for


def mode(path: Path) -> int:
    """All bits of its mode."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_are_not_widened(tmp_path: Path, umask: int) -> None:
    """The modes 0600 of a file and 0700 of a folder are kept, 0775 less the umask; setuid is not transferred."""
    modes = {"tree/secret": 0o600, "tree/program": 0o775, "tree/setuid": 0o4755, "tree/fixed": 0o444, "tree": 0o700}
    (tmp_path / "tree").mkdir()
    for name, sent in modes.items():
        path = tmp_path / name
        if name != "tree":
            path.write_text(name)
        path.chmod(sent)
    site = Site(tmp_path)
    receiver = site.receive("--into", "into", "--wait", "30", umask=umask)
    assert wait_for(site.send("tree", "--receivers", "1", "--wait", "30"))[0] == 0
    assert wait_for(receiver)[0] == 0
    received = {name: oct(mode(tmp_path / "into" / name)) for name in modes}
    assert received == {name: oct(sent & 0o777 & ~umask) for name, sent in modes.items()}


def test_one_unsendable_name_need_not_refuse_a_folder(tmp_path: Path) -> None:
    """The error shows a name with a newline, escaped; with --skip-unsendable the others are sent."""
    (tmp_path / "tree").mkdir()
    for name in (b"fine", b"new\nline", b"no\xfftext"):
        Path(str(tmp_path / "tree") + "/" + name.decode(errors="surrogateescape")).write_text("content")
    site = Site(tmp_path)
    status, out, error = wait_for(site.send("tree", "--wait", "1"))
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert "`tree/new\\nline`" in error or "`tree/no\\xfftext`" in error
    assert "--skip-unsendable" in error
    receiver = site.receive("--into", "into", "--wait", "30")
    status, _, error = wait_for(site.send("tree", "--receivers", "1", "--skip-unsendable"))
    assert (status, error.count("\n")) == (0, 2)
    assert "`tree/new\\nline`" in error and "`tree/no\\xfftext`" in error
    assert wait_for(receiver)[0] == 0
    assert [path.name for path in (tmp_path / "into" / "tree").iterdir()] == ["fine"]


def test_fewer_receivers_than_expected_are_a_failure(tmp_path: Path) -> None:
    """`--receivers 7` with one receiver exits with status 1, and says how many joined."""
    (tmp_path / "file").write_text("content")
    site = Site(tmp_path)
    receiver = site.receive("--into", "made/on/the/way", "--wait", "30")
    status, _, error = wait_for(site.send("file", "--receivers", "7", "--wait", "2"))
    assert (status, error) == (1, "warning: 1 of 7 receivers joined\n")
    assert wait_for(receiver)[0] == 0
    assert (tmp_path / "made/on/the/way/file").read_text() == "content"


def test_with_different_keys_both_sides_say_so(tmp_path: Path) -> None:
    """Neither user has to guess why nothing happens."""
    (tmp_path / "file").write_text("content")
    site = Site(tmp_path)
    receiver = site.receive("--key-file", site.key("one"), "--wait", "3")
    status, _, error = wait_for(site.send("file", "--key-file", site.key("other"), "--wait", "3"))
    assert status == 1
    assert "has another key: its --key-file may be the wrong one, or this one may be" in error
    status, _, error = wait_for(receiver)
    assert status == 1
    assert "with another key: this --key-file may be the wrong one" in error


def test_a_sender_of_another_version_is_reported(tmp_path: Path) -> None:
    """A receiver that gets packets of version 2 reports that version and its own."""
    site = Site(tmp_path)
    receiver = site.receive("--wait", "2")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as old_sender:
        old_sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
        deadline = time.monotonic() + TIMEOUT
        while receiver.poll() is None and time.monotonic() < deadline:
            old_sender.sendto(b"MQC\x03\x02" + bytes(40), site.group)
            with contextlib.suppress(subprocess.TimeoutExpired):
                receiver.wait(timeout=0.2)
    status, _, error = wait_for(receiver)
    assert status == 1
    assert "has version 2 of the protocol of casts, and this is version 3" in error


def test_a_target_that_cannot_be_written_is_reported_at_once(tmp_path: Path) -> None:
    """The error comes before any announcement."""
    status, out, error = wait_for(Site(tmp_path).receive("--into", "/proc"))
    assert (status, out) == (2, "")
    assert error.startswith("error: `/proc`: nothing can be written in it")
