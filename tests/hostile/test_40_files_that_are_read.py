"""Files that are read: empty ones, values that are no numbers, lists of themselves, and files of other tools."""

from pathlib import Path

import pytest

from command import answer, maquette, refusal

ON = ("--machine", "loggp", "--set", "L=1us")

# What each file is called in the error, and its content.
OTHERS = {
    "ibnet.out": ("an InfiniBand fabric by ibnetdiscover", b"vendid=0x2c9\ndevid=0xd2f2\nswitchguid=0x1(1)\nSwitch\t4 \"S-1\"\n"),
    "topology.conf": ("Slurm's topology.conf", b"SwitchName=leaf1 Nodes=n[001-004]\n"),
    "topology.yaml": ("Slurm's topology.yaml", b"---\n- topology: tree\n  cluster_default: true\n"),
    "net.graphml": ("a network in GraphML", b"<?xml version='1.0'?>\n<graphml><graph edgedefault='undirected'/></graphml>\n"),
    "example.anynet": ("a network of BookSim's anynet", b"router 0 node 0 node 1 router 1\n"),
    "fat.topo": ("a topology of htsim", b"Nodes 16\nTiers 2\nPodsize 16\n"),
    "perm.cm": ("a connection matrix of htsim", b"Nodes 2\nConnections 1\n0->1 id 1 start 0 size 5\n"),
    "nccl.xml": ("the topology of a host by NCCL in XML", b"<system version='1'><cpu numaid='0'/></system>\n"),
    "chakra.et": ("an execution trace of Chakra", b"\x07\x0a\x050.0.4H\x12\x14all_gather_8npus_1MB"),
    "capture.pcap": ("packets captured in pcap", b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(16)),
    "dumpi.bin": ("a trace of DUMPI in binary form", b"\xff\xaa\xdd\x44\x55\x4d\x50\x49" + bytes(64)),
}

DOORS = {
    "machine": ["machine", "FILE"],
    "--machine": ["run", "ping-pong", "--machine", "FILE"],
    "run": ["run", "FILE"],
    "--traffic": ["schedule", "--traffic", "FILE"],
    "schedule --read": ["schedule", "--read", "FILE"],
    "run trace": ["run", "trace", "FILE", *ON],
    "run goal": ["run", "goal", "FILE"],
    "run schedule": ["run", "schedule", "FILE", *ON],
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_tool_is_named_at_every_door(tmp_path: Path, door: str, name: str) -> None:
    """The error names the format and what is allowed instead; no parser's words about a missing `=`."""
    kind, content = OTHERS[name]
    file = tmp_path / name
    file.write_bytes(content)
    told = refusal(*[str(file) if argument == "FILE" else argument for argument in DOORS[door]])
    assert f"{name}: found {kind}, which " in told and "; allowed is " in told, told


def test_a_trace_at_the_door_of_machines_is_told_what_reads_it(tmp_path: Path) -> None:
    """Formats that a command reads are named with the command."""
    (tmp_path / "t.txt").write_text("0 init\n0 compute 5\n")
    assert "a time-independent trace of SimGrid, which `maquette run trace` reads" in refusal("machine", "./t.txt", cwd=tmp_path)
    assert "a time-independent trace of SimGrid, which `maquette run trace` reads" in refusal("run", "t.txt", cwd=tmp_path)


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n", "0 init\n1 init\n0 finalize\n1 finalize\n"])
def test_an_empty_trace_is_refused(tmp_path: Path, content: str) -> None:
    """A trace of no ranks or no calls is an error, not a run of no time."""
    (tmp_path / "t.txt").write_text(content)
    assert "empty: " in refusal("run", "trace", "t.txt", *ON, cwd=tmp_path)


def test_an_empty_goal_schedule_is_refused(tmp_path: Path) -> None:
    """A schedule without an operation is an error as well."""
    (tmp_path / "t.goal").write_text("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n")
    assert "empty: " in refusal("run", "goal", "t.goal", cwd=tmp_path)


@pytest.mark.parametrize("line", ["compute nan", "compute inf", "compute -1", "compute 1e300", "sleep nan", "send 1 7 -5", "isend 1 7 nan"])
def test_values_of_a_trace_are_not_changed_in_silence(tmp_path: Path, line: str) -> None:
    """What is no time and no size is refused with its line; it was taken for 0."""
    (tmp_path / "t.txt").write_text(f"0 init\n1 init\n0 {line}\n")
    assert f"t.txt:3: field {len(line.split()) + 1}: found `{line.split()[-1]}`" in refusal("run", "trace", "t.txt", *ON, cwd=tmp_path)


def test_a_list_that_names_itself_is_told_so(tmp_path: Path) -> None:
    """It got an error about a time."""
    (tmp_path / "list.txt").write_text("./list.txt\n")
    assert "the list names itself" in refusal("run", "trace", "list.txt", *ON, cwd=tmp_path)


def test_the_paths_of_a_list_begin_where_the_tracer_was_started(tmp_path: Path) -> None:
    """`smpirun -trace-file out/t.txt` writes `out/t.txt_files/0.txt` into out/t.txt."""
    folder = tmp_path / "out" / "t.txt_files"
    folder.mkdir(parents=True)
    (folder / "0.txt").write_text("0 init\n0 send 1 7 100 6\n")
    (folder / "1.txt").write_text("1 init\n1 recv 0 7 100 6\n")
    (tmp_path / "out" / "t.txt").write_text("out/t.txt_files/0.txt\nout/t.txt_files/1.txt\n")
    for place in (tmp_path, tmp_path / "out", Path("/")):
        assert answer("run", "trace", tmp_path / "out" / "t.txt", *ON, cwd=place)["messages"] == 1
    (tmp_path / "out" / "t.txt").write_text("0.txt\n1.txt\n")
    assert "found no trace, and no file" in refusal("run", "trace", "out/t.txt", *ON, cwd=tmp_path)


def test_a_schedule_in_msccl_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The XML that `schedule --write` makes is checked by `schedule --read`, and runs."""
    (tmp_path / "t.csv").write_text("0,8,16\n8,0,0\n24,8,0\n")
    maquette("schedule", "--traffic", "t.csv", "--algorithm", "greedy", "--write", "s.xml", "--write", "s.json", cwd=tmp_path)
    checked = maquette("schedule", "--read", "s.xml", "--traffic", "t.csv", "--check", cwd=tmp_path)
    assert checked.returncode == 0 and "every message is sent once" in checked.stdout, checked.stderr
    ends = [answer("run", "schedule", file, *ON, cwd=tmp_path)["makespan_ps"] for file in ("s.xml", "s.json")]
    assert ends[0] == ends[1]
    (tmp_path / "bomb.xml").write_text('<!DOCTYPE algo [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<algo name="&b;"/>\n')
    assert "found no XML" in refusal("schedule", "--read", "bomb.xml", cwd=tmp_path)


def test_a_diagonal_stays_at_its_rank(tmp_path: Path) -> None:
    """Messages of a rank to itself cost the copy and no network, and the output says how many bytes they have."""
    (tmp_path / "with.csv").write_text("1000000,8\n8,500\n")
    (tmp_path / "without.csv").write_text("0,8\n8,0\n")
    assert "1000500 B stay at their rank" in maquette("schedule", "--traffic", "with.csv", cwd=tmp_path).stdout
    run = ("run", "all-to-all", "--machine", "loggp", "--set", "L=1us", "--set", "O=1ns", "--traffic")
    copied, bare = (answer(*run, name, cwd=tmp_path) for name in ("with.csv", "without.csv"))
    assert copied["messages"] == bare["messages"] == 2
    assert copied["makespan_ps"] == bare["makespan_ps"] + 1_000_000_000
    (tmp_path / "h.mtx").write_text("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 -2\n")
    assert "2 messages among 2 ranks" in maquette("schedule", "--traffic", "h.mtx", cwd=tmp_path).stdout
