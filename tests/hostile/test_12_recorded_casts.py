"""Nobody without the key can hold up a cast that has one."""

import socket
import threading
from pathlib import Path

import pytest
from casting import LOOPBACK, Site, wait_for


def record(site: Site, *options: str | Path) -> bytes:
    """The announcement of a cast that no receiver joins."""
    with site.listening() as listener:
        sender = site.send("old", "--wait", "1", *options)
        announcement = listener.recv(2_000)
        assert wait_for(sender)[0] == 1
    return announcement


def replay(site: Site, announcement: bytes, until: threading.Event) -> None:
    """Send it again and again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
        attacker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
        while not until.is_set():
            attacker.sendto(announcement, site.group)
            until.wait(0.2)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_recorded_announcement_does_not_hold_up_a_receiver(tmp_path: Path, sealed: bool) -> None:
    """An announcement of an earlier cast, sent again and again, does not keep a receiver from the current sender."""
    site = Site(tmp_path)
    options: list[str | Path] = ["--key-file", site.key("key")] if sealed else []
    (tmp_path / "old").write_text("old")
    (tmp_path / "new").write_text("new")
    announcement = record(site, *options)
    stop = threading.Event()
    attacker = threading.Thread(target=replay, args=(site, announcement, stop))
    attacker.start()
    try:
        receiver = site.receive("--into", "into", "--wait", "30", *options)
        # It receives the old announcement several times before the new one.
        stop.wait(2)
        sender = site.send("new", "--receivers", "1", "--wait", "30", *options)
        assert wait_for(sender)[0] == 0
        assert wait_for(receiver)[0] == 0
    finally:
        stop.set()
        attacker.join(timeout=10)
    assert (tmp_path / "into" / "new").read_text() == "new"


def test_a_receiver_that_gets_only_recorded_announcements_ends(tmp_path: Path) -> None:
    """Without a sender the receiver ends after `--wait`, and says that no sender has answered."""
    site = Site(tmp_path)
    key = site.key("key")
    (tmp_path / "old").write_text("old")
    announcement = record(site, "--key-file", key)
    stop = threading.Event()
    attacker = threading.Thread(target=replay, args=(site, announcement, stop))
    attacker.start()
    try:
        status, _, error = wait_for(site.receive("--into", "into", "--wait", "2", "--key-file", key))
    finally:
        stop.set()
        attacker.join(timeout=10)
    assert (status, error) == (1, "error: something was announced, but no sender has answered for 2 s\n")
