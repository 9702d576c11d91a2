"""A result says what was run: whatever can change it is in it, in text and in JSON."""

import json
from pathlib import Path

from command import answer, maquette

PING = ("run", "ping-pong", "--machine", "torus-512", "--nodes", "8")


def line(*arguments: str | Path) -> str:
    """The second line of what a command prints."""
    done = maquette(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1]


def test_a_changed_machine_is_told_in_text_and_json() -> None:
    """With and without --set the header and the JSON differ, and name the changes in their order."""
    changes = ("--set", "rate=1GB/s", "--set", "buffers=600")
    assert line(*PING, *changes).startswith("with rate=1GB/s buffers=600; engine fast; ")
    assert "rate" not in line(*PING)
    plain, changed = answer(*PING)["experiment"], answer(*PING, *changes)["experiment"]
    assert plain["machine"]["set"] == []
    assert changed["machine"]["set"] == ["rate=1GB/s", "buffers=600"]
    assert plain["machine"]["blake3"] == changed["machine"]["blake3"]


def test_version_engine_seed_ranks_and_parameters_are_told() -> None:
    """Version, engine, seed, ranks, program and parameters are under one key."""
    told = answer(*PING, "--engine", "reference", "--seed", "7", "--bytes", "64")["experiment"]
    version = maquette("--version").stdout.split()[1]
    assert (told["maquette"], told["engine"], told["seed"], told["ranks"]) == (version, "reference", 7, 8)
    assert told["command"] == "run ping-pong"
    assert told["parameters"] == {"bytes": 64, "from": 0, "to": 7, "rounds": 1}
    assert f"maquette {version}" in line(*PING)


def test_a_changed_preset_does_not_call_itself_what_it_was() -> None:
    """`torus-512` with other sides says so; what it was is marked as that."""
    shown = maquette("machine", "torus-512", "--set", "sides=[16,8,8]").stdout.splitlines()
    assert shown[0].startswith("torus-512: with sides=[16,8,8]; unchanged: ")
    assert any(row.split() == ["nodes", "1024"] for row in shown)
    resolved = answer("machine", "torus-512", "--set", "sides=[16,8,8]")
    assert resolved["set"] == ["sides=[16,8,8]"] and resolved["about"].startswith("with sides=[16,8,8]; unchanged: ")
    assert answer("machine", "torus-512")["set"] == []


def test_a_machine_shows_rates_latencies_buffers_packets_and_costs() -> None:
    """A network of flits, an Ethernet and a LogGP machine show what times follow from; a change is seen."""
    of = {
        "moc-3-2": ["each channel", "MB/s", "wire", "credit", "buffer of", "of header", "routes a header in", "to send"],
        "mpich-tcp-8": ["wires", "switch", "frames", "processors"],
        "loggp": ["L ", "o ", "g ", "G ", "O ", "S "],
    }
    for name, words in of.items():
        shown = maquette("machine", name).stdout
        assert [word for word in words if word not in shown] == [], name
    faster = maquette("machine", "moc-3-2", "--set", "rate=1GB/s", "--set", "node.processor_send=7us").stdout
    assert "1 GB/s, a flit in" in faster and "processor 7 us a message" in faster
    channel = answer("machine", "moc-3-2", "--set", "rate=1GB/s")["network"]["channels"][0]
    assert channel["bits_per_second"] == 8_000_000_000


def test_files_are_told_with_a_digest_of_what_is_in_them(tmp_path: Path) -> None:
    """A file whose content changes changes what a result says of it, whatever it is called."""
    matrix, machine = tmp_path / "halo.csv", tmp_path / "mine.toml"
    times = 'latency = "2 us"\noverhead = "1 us"\ngap = "500 ns"\ngap_per_byte = "1 ns"\n'
    described = f'about = "Mine"\n\n[loggp]\nnodes = 8\n{times}'
    machine.write_text(described)
    run = ("run", "all-to-all", "--machine", machine, "--traffic", matrix)
    matrix.write_text("0,1\n1,0\n")
    before = answer(*run)["experiment"]
    matrix.write_text("0,2\n1,0\n")
    after = answer(*run)["experiment"]
    assert before["files"][0]["path"] == str(matrix)
    assert len(before["files"][0]["blake3"]) == 64
    assert before["files"] != after["files"]
    assert f"{matrix} blake3 {after['files'][0]['blake3'][:16]}" in line(*run)
    machine.write_text(described + "# and more\n")
    assert answer(*run)["experiment"]["machine"]["blake3"] != after["machine"]["blake3"]


def test_every_command_says_it_in_the_same_shape(tmp_path: Path) -> None:
    """The same keys for all commands, a launch with real ranks included; and it stands in a timeline."""
    told = [
        answer(*PING, "--timeline", tmp_path / "trace.json"),
        answer("run", "traffic", "--machine", "moc-2-1", "--rate", "0.01"),
        answer("plan", "broadcast", "--machine", "loggp", "--ranks", "4"),
        answer("measure", "lambda", "--machine", "moc-2-1", "--bytes", "8", "--partners", "2", "--draws", "2"),
        answer("pattern", "euler-545"),
        answer("schedule", "--complete", "4"),
        answer("postal", "--lambda", "2", "--nodes", "4"),
        answer("launch", "--local", "2", "ping-pong", "--bytes", "8", "--repeat", "3"),
    ]
    keys = {tuple(sorted(object["experiment"])) for object in told}
    assert keys == {("command", "engine", "files", "machine", "maquette", "parameters", "ranks", "seed")}
    launched = told[-1]["experiment"]
    assert (launched["command"], launched["machine"], launched["parameters"]["repeat"]) == ("launch ping-pong", None, 3)
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["experiment"] == told[0]["experiment"]
