"""A result says what was run: text and JSON contain everything that can change it."""

import json
from pathlib import Path

from command import answer, maquette

PING = ("run", "ping-pong", "--machine", "torus-512", "--nodes", "8")


def provenance(*arguments: str | Path) -> str:
    """The second line of what a command prints."""
    completed = maquette(*arguments)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.splitlines()[1]


def test_a_changed_machine_is_reported_in_text_and_json() -> None:
    """With and without --set the header and the JSON differ, and name the changes in their order."""
    changes = ("--set", "rate=1GB/s", "--set", "buffers=600")
    assert provenance(*PING, *changes).startswith("with rate=1GB/s buffers=600; engine fast; ")
    assert "rate" not in provenance(*PING)
    plain, changed = answer(*PING)["experiment"], answer(*PING, *changes)["experiment"]
    assert plain["machine"]["set"] == []
    assert changed["machine"]["set"] == ["rate=1GB/s", "buffers=600"]
    assert plain["machine"]["blake3"] == changed["machine"]["blake3"]


def test_version_engine_seed_ranks_and_parameters_are_reported() -> None:
    """Version, engine, seed, ranks, program and parameters are under one key."""
    experiment = answer(*PING, "--engine", "reference", "--seed", "7", "--bytes", "64")["experiment"]
    version = maquette("--version").stdout.split()[1]
    assert (experiment["maquette"], experiment["engine"], experiment["seed"], experiment["ranks"]) == (version, "reference", 7, 8)
    assert experiment["command"] == "run ping-pong"
    assert experiment["parameters"] == {"bytes": 64, "from": 0, "to": 7, "rounds": 1}
    assert f"maquette {version}" in provenance(*PING)


def test_a_changed_preset_says_that_it_is_changed() -> None:
    """`torus-512` with other sides says so, and marks its description as that of the unchanged preset."""
    shown = maquette("machine", "torus-512", "--set", "sides=[16,8,8]").stdout.splitlines()
    assert shown[0].startswith("torus-512: ") and shown[0].endswith(", changed by sides=[16,8,8]")
    assert any(row.split() == ["nodes", "1024"] for row in shown)
    resolved = answer("machine", "torus-512", "--set", "sides=[16,8,8]")
    assert resolved["set"] == ["sides=[16,8,8]"] and resolved["about"].endswith(", changed by sides=[16,8,8]")
    assert answer("machine", "torus-512")["set"] == []


def test_a_machine_shows_rates_latencies_buffers_packets_and_costs() -> None:
    """A network of flits, an Ethernet and a LogGP machine show the parameters that determine times, and changes of these."""
    expected = {
        "moc-3-2": ["each channel", "MB/s", "wire", "credit", "buffer of", "of header", "routes a header in", "to send"],
        "mpich-tcp-8": ["wires", "switch", "frames", "processors"],
        "loggp": ["L ", "o ", "g ", "G ", "O ", "S "],
    }
    for name, words in expected.items():
        shown = maquette("machine", name).stdout
        assert [word for word in words if word not in shown] == [], name
    faster = maquette("machine", "moc-3-2", "--set", "rate=1GB/s", "--set", "node.processor_send=7us").stdout
    assert "1 GB/s, a flit in" in faster and "processor 7 us per message" in faster
    channel = answer("machine", "moc-3-2", "--set", "rate=1GB/s")["network"]["channels"][0]
    assert channel["bits_per_second"] == 8_000_000_000


def test_files_are_reported_with_a_digest_of_their_contents(tmp_path: Path) -> None:
    """A file with other contents has another digest in the result, even under the same name."""
    matrix, machine = tmp_path / "halo.csv", tmp_path / "mine.toml"
    times = 'latency = "2 us"\noverhead = "1 us"\ngap = "500 ns"\ngap_per_byte = "1 ns"\n'
    description = f'about = "Mine"\n\n[loggp]\nnodes = 8\n{times}'
    machine.write_text(description)
    run = ("run", "all-to-all", "--machine", machine, "--traffic", matrix)
    matrix.write_text("0,1\n1,0\n")
    before = answer(*run)["experiment"]
    matrix.write_text("0,2\n1,0\n")
    after = answer(*run)["experiment"]
    assert before["files"][0]["path"] == str(matrix)
    assert len(before["files"][0]["blake3"]) == 64
    assert before["files"] != after["files"]
    assert f"{matrix} blake3 {after['files'][0]['blake3'][:16]}" in provenance(*run)
    machine.write_text(description + "# and more\n")
    assert answer(*run)["experiment"]["machine"]["blake3"] != after["machine"]["blake3"]


def test_every_command_reports_it_in_the_same_form(tmp_path: Path) -> None:
    """All commands have the same keys, including a launch with real ranks; a timeline has them, too."""
    answers = [
        answer(*PING, "--timeline", tmp_path / "trace.json"),
        answer("run", "traffic", "--machine", "moc-2-1", "--rate", "0.01"),
        answer("plan", "broadcast", "--machine", "loggp", "--ranks", "4"),
        answer("measure", "lambda", "--machine", "moc-2-1", "--bytes", "8", "--partners", "2", "--draws", "2"),
        answer("pattern", "euler-545"),
        answer("schedule", "--complete", "4"),
        answer("postal", "--lambda", "2", "--nodes", "4"),
        answer("launch", "--local", "2", "ping-pong", "--bytes", "8", "--repeat", "3"),
    ]
    keys = {tuple(sorted(object["experiment"])) for object in answers}
    assert keys == {("build", "command", "engine", "files", "machine", "maquette", "parameters", "ranks", "seed")}
    launched = answers[-1]["experiment"]
    assert (launched["command"], launched["machine"], launched["parameters"]["repeat"]) == ("launch ping-pong", None, 3)
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["experiment"] == answers[0]["experiment"]
