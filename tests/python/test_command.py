"""The installed command, as a user starts it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import maquette

COMMAND = Path(sys.executable).with_name("maquette")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False, cwd=cwd)


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in ["machines", "machine", "run", "reproduce"]:
        assert f"  {name} " in done.stdout


def test_presets_are_listed_and_can_be_shown() -> None:
    machines = json.loads(run("machines", "--json").stdout)
    assert {"name", "nodes", "about"} <= machines[0].keys()
    for machine in machines:
        shown = run("machine", machine["name"], "--json")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["nodes"] == machine["nodes"]


def test_a_run_prints_json() -> None:
    done = run("run", "ping-pong", "--machine", "moc-2-1", "--bytes", "64", "--json")
    answer = json.loads(done.stdout)
    assert answer["messages"] == 2
    assert answer["makespan_ps"] > 0
    assert len(answer["channels"]) == len(json.loads(run("machine", "moc-2-1", "--json").stdout)["network"]["channels"])


def test_bad_input_has_status_2_and_leaves_no_files(tmp_path: Path) -> None:
    done = run("run", "equal-dist", "--machine", "moc-3-2", "--nodes", "65", "--packets", "log.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


def test_the_module_runs_command_lines_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert maquette.main(["machine", "moc-2-1"]) == 0
    assert "nodes" in capfd.readouterr().out
    assert maquette.main(["machine", "no-such-machine"]) == 2
    assert "no-such-machine" in capfd.readouterr().err


def test_a_reader_may_stop_reading() -> None:
    with subprocess.Popen([COMMAND, "machine", "fat-tree-1024", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


def interrupted(arguments: list[str], folder: Path, after: float) -> tuple[int, str]:
    """The exit status and the output of a command that gets a Ctrl-C this many seconds after its start.

    `env` restores the default action of the signal, which this process may have inherited as ignored, and becomes the command.
    """
    command: list[str | Path] = ["env", "--default-signal=INT", COMMAND, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=120)
        finally:
            process.kill()
        return process.returncode, out


def test_after_ctrl_c_a_reproduction_keeps_finished_runs(tmp_path: Path) -> None:
    status, out = interrupted(["reproduce", "moc", "--json"], tmp_path, after=3)
    claims = [json.loads(line) for line in out.splitlines()]
    assert len(claims) == 17
    assert "not-run" in {claim["verdict"] for claim in claims}
    assert status == (1 if "missed" in {claim["verdict"] for claim in claims} else 130)
    assert (tmp_path / "report" / "index.html").read_text().endswith("</html>\n")
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == ["index.html", "runs.jsonl"]


def reproduced(folder: Path, *options: str) -> tuple[list[str], str]:
    """The verdicts on the claims of the postal model, and the lines that follow them."""
    done = subprocess.run(
        [COMMAND, "reproduce", "postal", *options], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    tally = next(number for number, line in enumerate(lines) if " met, " in line)
    return lines[:tally], "\n".join(lines[tally:])


def test_runs_of_an_earlier_reproduction_are_not_repeated(tmp_path: Path) -> None:
    verdicts, end = reproduced(tmp_path)
    assert "earlier" not in end
    kept = tmp_path / "report" / "runs.jsonl"
    whole, page = kept.read_text(), (tmp_path / "report" / "index.html").read_text()
    runs = len(whole.splitlines()) - 1

    again, end = reproduced(tmp_path)
    assert again == verdicts
    assert f"{runs} runs are from an earlier reproduction" in end
    assert (kept.read_text(), (tmp_path / "report" / "index.html").read_text()) == (whole, page)

    kept.write_text(whole[:-10])
    cut, end = reproduced(tmp_path)
    assert cut == verdicts
    assert f"{runs - 1} runs are from an earlier reproduction" in end
    assert sorted(kept.read_text().splitlines()) == sorted(whole.splitlines())

    anew, end = reproduced(tmp_path, "--again")
    assert anew == verdicts
    assert "earlier" not in end

    kept.write_text(whole.replace('"simulated_by":"', '"simulated_by":"0'))
    other, end = reproduced(tmp_path)
    assert other == verdicts
    assert "earlier" not in end, "results of other sources do not count"


@pytest.mark.parametrize("after", [0.1, 0.3, 0.6])
def test_after_ctrl_c_on_a_terminal_only_the_launcher_reports_it(after: float) -> None:
    """A terminal interrupts all processes in the foreground: ranks in Python that have just been started must not be among them."""
    endless = ["launch", "--local", "3", "ping-pong", "--bytes", "8", "--rounds", "1000000001"]
    command: list[str | Path] = ["env", "--default-signal=INT", COMMAND, *endless]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        wait_for_children(process.pid)
        time.sleep(after)
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, error = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, error) == (130, "error: interrupted\n")


def wait_for_children(parent: int) -> None:
    """Wait until a process has started another one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for status in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                if f"PPid:\t{parent}\n" in status.read_text():
                    return
    raise TimeoutError(f"process {parent} has started none")


def test_after_ctrl_c_a_single_run_leaves_no_files(tmp_path: Path) -> None:
    endless = ["run", "equal-dist", "--machine", "moc-3-2", "--messages", "4000000000", "--packets", "log.csv"]
    status, out = interrupted(endless, tmp_path, after=1)
    assert (status, out) == (130, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_leave_no_files_either(tmp_path: Path, number: signal.Signals) -> None:
    endless = ["run", "equal-dist", "--machine", "moc-3-2", "--messages", "4000000000", "--packets", "log.csv"]
    restore_default = lambda: signal.signal(number, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen([COMMAND, *endless], stdout=subprocess.PIPE, cwd=tmp_path, preexec_fn=restore_default) as process:
        try:
            deadline = time.monotonic() + 60
            while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(number)
            assert process.wait(timeout=60) == 128 + number
        finally:
            process.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (["--n", "4", "--name", "12", "--share", "2"], "(4, '12', 2)"),
        (["--n", "four"], "error: --n: found four; allowed is a whole number, as the program says\n"),
        (["--n", "2.5"], "error: --n: found 2.5; allowed is a whole number, as the program says\n"),
        (["--share", "half"], "error: --share: found half; allowed is a number, as the program says\n"),
    ],
)
def test_arguments_of_a_program_in_python_have_the_types_that_it_names(tmp_path: Path, arguments: list[str], outcome: str) -> None:
    (tmp_path / "own.py").write_text(
        "async def echo(endpoint, n: int = 1, name: str = '', share: float = 0.5) -> tuple[int, str, float]:\n    return n, name, share\n"
    )
    done = run("run", "own.py:echo", "--machine", "loggp", "--ranks", "1", *arguments, cwd=tmp_path)
    if outcome.startswith("error"):
        assert (done.returncode, done.stderr) == (2, outcome)
    else:
        assert done.returncode == 0 and done.stdout.endswith(f"rank 0: {outcome}\n")


def test_ctrl_c_ends_a_program_in_python_as_any_other(tmp_path: Path) -> None:
    """The program interrupts its own process, as a user would do while it runs."""
    (tmp_path / "own.py").write_text(
        "import signal\n\n\nasync def interrupted(endpoint):\n    signal.raise_signal(signal.SIGINT)\n    await endpoint.compute('1 us')\n"
    )
    command: list[str | Path] = ["env", "--default-signal=INT", COMMAND, "run", "own.py:interrupted", "--machine", "cm5-32"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_robustness_is_counted_draw_by_draw_and_continued(tmp_path: Path) -> None:
    def counted(draws: int) -> dict[str, Any]:
        command = [str(COMMAND), "reproduce", "bcast", "--robustness", "--draws", str(draws), "--experiments", "kept"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
        return tomllib.loads((tmp_path / "kept" / "bcast" / "robustness.toml").read_text())

    one, two = counted(1), counted(2)
    assert (one["draws"], two["draws"]) == (1, 2)
    assert one["claims"].keys() == two["claims"].keys()
    for before, after in zip(one["claims"].values(), two["claims"].values(), strict=True):
        assert all(more - less in (0, 1) for less, more in zip(before, after, strict=True))
    # Enough draws are there, so nothing is run.
    assert counted(2) == two
