"""A keyed cast cannot be held up by who has not the key."""

import socket
import threading
from pathlib import Path

import pytest
from casting import HERE, Place, ended


def record(place: Place, *options: str | Path) -> bytes:
    """The announcement of a cast to which nobody comes."""
    with place.heard() as listener:
        sender = place.send("old", "--wait", "1", *options)
        announcement = listener.recv(2_000)
        assert ended(sender)[0] == 1
    return announcement


def replay(place: Place, announcement: bytes, until: threading.Event) -> None:
    """Sends it again and again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
        while not until.is_set():
            stranger.sendto(announcement, place.group)
            until.wait(0.2)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_recorded_announcement_does_not_bind_a_receiver(tmp_path: Path, sealed: bool) -> None:
    """An announcement of an earlier cast, sent again and again, keeps no receiver from the sender that is there."""
    place = Place(tmp_path)
    options: list[str | Path] = ["--key-file", place.key("key")] if sealed else []
    (tmp_path / "old").write_text("old")
    (tmp_path / "new").write_text("new")
    announcement = record(place, *options)
    stop = threading.Event()
    stranger = threading.Thread(target=replay, args=(place, announcement, stop))
    stranger.start()
    try:
        receiver = place.receive("--into", "into", "--wait", "30", *options)
        # It has heard the old one several times before there is another.
        stop.wait(2)
        sender = place.send("new", "--receivers", "1", "--wait", "30", *options)
        assert ended(sender)[0] == 0
        assert ended(receiver)[0] == 0
    finally:
        stop.set()
        stranger.join(timeout=10)
    assert (tmp_path / "into" / "new").read_text() == "new"


def test_a_receiver_with_nothing_but_old_announcements_ends(tmp_path: Path) -> None:
    """Where there is no sender, `--wait` ends, and says that nobody has answered."""
    place = Place(tmp_path)
    key = place.key("key")
    (tmp_path / "old").write_text("old")
    announcement = record(place, "--key-file", key)
    stop = threading.Event()
    stranger = threading.Thread(target=replay, args=(place, announcement, stop))
    stranger.start()
    try:
        status, _, told = ended(place.receive("--into", "into", "--wait", "2", "--key-file", key))
    finally:
        stop.set()
        stranger.join(timeout=10)
    assert (status, told) == (1, "error: something was announced, but no sender has answered for 2 s\n")
