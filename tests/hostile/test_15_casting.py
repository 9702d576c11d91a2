"""What `maquette cast` carries, refuses and tells."""

import contextlib
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest
from casting import HERE, PATIENCE, Place, ended


def mode(path: Path) -> int:
    """Its mode, all of it."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_are_not_widened(tmp_path: Path, umask: int) -> None:
    """A file of 0600 and a folder of 0700 arrive so, and 0775 less the umask; setuid is not carried."""
    modes = {"tree/secret": 0o600, "tree/program": 0o775, "tree/setuid": 0o4755, "tree/fixed": 0o444, "tree": 0o700}
    (tmp_path / "tree").mkdir()
    for name, wanted in modes.items():
        path = tmp_path / name
        if name != "tree":
            path.write_text(name)
        path.chmod(wanted)
    place = Place(tmp_path)
    receiver = place.receive("--into", "into", "--wait", "30", umask=umask)
    assert ended(place.send("tree", "--receivers", "1", "--wait", "30"))[0] == 0
    assert ended(receiver)[0] == 0
    came = {name: oct(mode(tmp_path / "into" / name)) for name in modes}
    assert came == {name: oct(wanted & 0o777 & ~umask) for name, wanted in modes.items()}


def test_one_name_does_not_refuse_a_folder(tmp_path: Path) -> None:
    """A name with a newline is named, escaped; with --skip-unsendable the others are sent."""
    (tmp_path / "tree").mkdir()
    for name in (b"fine", b"new\nline", b"no\xfftext"):
        Path(str(tmp_path / "tree") + "/" + name.decode(errors="surrogateescape")).write_text("content")
    place = Place(tmp_path)
    status, out, told = ended(place.send("tree", "--wait", "1"))
    assert (status, out, told.count("\n")) == (2, "", 1)
    assert "`tree/new\\nline`" in told or "`tree/no\\xfftext`" in told
    assert "--skip-unsendable" in told
    receiver = place.receive("--into", "into", "--wait", "30")
    status, _, told = ended(place.send("tree", "--receivers", "1", "--skip-unsendable"))
    assert (status, told.count("\n")) == (0, 2)
    assert "`tree/new\\nline`" in told and "`tree/no\\xfftext`" in told
    assert ended(receiver)[0] == 0
    assert [path.name for path in (tmp_path / "into" / "tree").iterdir()] == ["fine"]


def test_fewer_receivers_than_were_waited_for_are_no_success(tmp_path: Path) -> None:
    """`--receivers 7` with one receiver ends with 1, and says how many came."""
    (tmp_path / "file").write_text("content")
    place = Place(tmp_path)
    receiver = place.receive("--into", "made/on/the/way", "--wait", "30")
    status, _, told = ended(place.send("file", "--receivers", "7", "--wait", "2"))
    assert (status, told) == (1, "warning: 1 of 7 receivers joined\n")
    assert ended(receiver)[0] == 0
    assert (tmp_path / "made/on/the/way/file").read_text() == "content"


def test_with_a_wrong_key_both_sides_say_so(tmp_path: Path) -> None:
    """Neither has to guess why nothing happens."""
    (tmp_path / "file").write_text("content")
    place = Place(tmp_path)
    receiver = place.receive("--key-file", place.key("one"), "--wait", "3")
    status, _, told = ended(place.send("file", "--key-file", place.key("other"), "--wait", "3"))
    assert status == 1
    assert "has another key: its --key-file may be the wrong one, or this one may be" in told
    status, _, told = ended(receiver)
    assert status == 1
    assert "with another key: this --key-file may be the wrong one" in told


def test_another_version_is_named(tmp_path: Path) -> None:
    """A receiver that hears a sender of version 1 says which version that is, and which this."""
    place = Place(tmp_path)
    receiver = place.receive("--wait", "2")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as old_sender:
        old_sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
        deadline = time.monotonic() + PATIENCE
        while receiver.poll() is None and time.monotonic() < deadline:
            old_sender.sendto(b"MQC\x01" + bytes(40), place.group)
            with contextlib.suppress(subprocess.TimeoutExpired):
                receiver.wait(timeout=0.2)
    status, _, told = ended(receiver)
    assert status == 1
    assert "has version 1 of the protocol of casts, and this is version 2" in told


def test_a_target_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    """Before anything is announced."""
    status, out, told = ended(Place(tmp_path).receive("--into", "/proc"))
    assert (status, out) == (2, "")
    assert told.startswith("error: `/proc`: nothing can be written in it")
