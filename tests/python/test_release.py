"""The scripts that make a release and what is installed without a compiler, as far as they go without building."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The version of the workspace.
PRESENT = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[0]
NEXT = f"{int(PRESENT.split('.')[0]) + 1}.0.0"


def script(name: str, folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a script of a copy of the sources."""
    command = [sys.executable, str(folder / "scripts" / name), *words]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A repository of its own with the sources as they are here."""
    folder = tmp_path / "copy"
    folder.mkdir()
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in (name for name in names if (ROOT / name).is_file()):
        # Only what names the version, or is run.
        if name.split("/")[0] in {"scripts", "Cargo.toml", "Cargo.lock", "CHANGELOG.md", "README.md", "crates", "fuzz"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=Test", "-c", "user.email=test@test.invalid", "commit", "--quiet", "--message", "all")
    return folder


def test_a_rehearsed_release_shows_what_it_would_do_and_does_nothing(copy: Path) -> None:
    done = script("release.py", copy, NEXT, "--dry-run")
    assert done.returncode == 0, done.stderr
    added = [line for line in done.stdout.splitlines() if line.startswith("+")]
    assert any(re.fullmatch(rf"\+## {NEXT} \(\d+-\d+-\d+\)", line) for line in added)
    assert f'+version = "{NEXT}"' in added
    for line in ("make check", "make test", f"git commit --all --message release: {NEXT}", "make dist"):
        assert f"would run: {line}" in done.stdout
    assert git(copy, "status", "--porcelain") == "" and git(copy, "tag") == ""


def test_nothing_names_the_former_version_after_a_release(copy: Path) -> None:
    done = script("release.py", copy, NEXT, "--dry-run")
    changed = set(re.findall(r"^--- (.*)$", done.stdout, re.MULTILINE))
    assert {"Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "CHANGELOG.md", "README.md"} <= changed
    recorded = copy / "crates" / "faces" / "command-line" / "tests" / "command_line"
    named = {str(path.relative_to(copy)) for path in recorded.glob("*.md") if f"maquette {PRESENT}" in path.read_text()}
    assert named and named <= changed


@pytest.mark.parametrize(
    ("version", "reason"),
    [("0.0.1", "which is before"), ("next", "allowed is one such as"), (f"v{NEXT}", "allowed is one such as")],
)
def test_what_is_no_later_version_is_refused(copy: Path, version: str, reason: str) -> None:
    done = script("release.py", copy, version)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


def test_a_release_is_refused_where_something_is_not_committed_or_is_released_already(copy: Path) -> None:
    git(copy, "tag", f"v{NEXT}")
    assert f"there is a tag v{NEXT}" in script("release.py", copy, NEXT).stderr
    (copy / "left over").touch()
    done = script("release.py", copy, f"{NEXT}-rc.1")
    assert done.returncode == 2 and "left over" in done.stderr


def test_missing_tools_are_named_before_anything_is_built(tmp_path: Path) -> None:
    done = script("dist.py", ROOT, "--only", "sbom", PATH=str(tmp_path))
    # That of this test has no tools of cargo beside it.
    assert done.returncode == 1
    assert "missing: cargo-cyclonedx: cargo install --locked cargo-cyclonedx\n" in done.stderr


def test_a_part_that_there_is_not_is_refused() -> None:
    done = script("dist.py", ROOT, "--only", "wheels")
    assert done.returncode == 1 and "--only: found wheels; allowed is sdist, wheel-x86_64" in done.stderr
