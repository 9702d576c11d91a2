"""Make a release of this repository: its version everywhere, the checks, a commit, a tag, and what `make dist` makes.

Nothing leaves this computer: push the commit and the tag when you have looked at them.
"""

import argparse
import datetime
import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What a version looks like, and what may follow it before the release itself: 1.2.3, 1.2.3-rc.1.
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9a-z.]+)?")
#: The heading under which the changes since the last release stand.
HEADING = re.compile(r"^## \S+ \(not released yet\)$", re.MULTILINE)
#: What is run before anything is committed, and what is made of the commit.
CHECKS = (("make", "check"), ("make", "test"))
DIST = ("make", "dist")


class Refused(Exception):
    """Why there is no release, for who asked for it."""


def main() -> int:
    """Make the release that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: scripts/release.py 0.2.0 --dry-run")
    parser.add_argument("version", metavar="VERSION", help="the version, such as 0.2.0; no `v` before it")
    parser.add_argument("--dry-run", action="store_true", help="print what would be changed and run, and do nothing")
    arguments = parser.parse_args()
    try:
        release(arguments.version, arguments.dry_run)
    except Refused as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failure:
        print(f"error: `{' '.join(failure.cmd)}` failed; `git status` shows what is not committed", file=sys.stderr)
        return 1
    return 0


def release(version: str, is_rehearsal: bool) -> None:
    """Make a release, or print what that would do."""
    former = present_version()
    check(version, former)
    today = datetime.date.today()
    changes = {path: text for path, text in changed(former, version, today) if text != path.read_text()}
    commands = [*CHECKS, ("git", "commit", "--all", "--message", f"release: {version}\n\n{summary(version)}")]
    commands += [("git", "tag", "--annotate", f"v{version}", "--message", f"Maquette {version}"), DIST]
    if is_rehearsal:
        for path, text in changes.items():
            name = str(path.relative_to(ROOT))
            lines = difflib.unified_diff(path.read_text().splitlines(), text.splitlines(), name, name, lineterm="", n=0)
            print("\n".join(shortened(list(lines))))
        for command in commands:
            print("would run:", " ".join(word.splitlines()[0] for word in command))
        return
    for path, text in changes.items():
        path.write_text(text)
    for command in commands:
        print("+", " ".join(word.splitlines()[0] for word in command), flush=True)
        subprocess.run(command, cwd=ROOT, check=True)
    print(f"made {version}: `git push --follow-tags` publishes it")


def shortened(lines: list[str], most: int = 14) -> list[str]:
    """The first lines of a difference, and how many others there are."""
    cut = [line if len(line) <= 120 else line[:117] + "..." for line in lines]
    return cut if len(cut) <= most else [*cut[:most], f"  ... and {len(cut) - most} more lines"]


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()


def present_version() -> str:
    """The version in the manifest of the workspace."""
    found = re.search(r'^\[workspace\.package\]\nversion = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    if found is None:
        raise Refused("Cargo.toml: found no version under [workspace.package]")
    return found[1]


def order(version: str) -> tuple[int, int, int, bool]:
    """What puts versions in order: one that is still to be released comes before it."""
    found = VERSION.fullmatch(version)
    if found is None:
        raise Refused(f"VERSION: found `{version}`; allowed is one such as 0.2.0 or 0.2.0-rc.1")
    return int(found[1]), int(found[2]), int(found[3]), "-" not in version


def check(version: str, former: str) -> None:
    """Refuse what cannot be released."""
    if order(version) < order(former):
        raise Refused(f"VERSION: found {version}, which is before {former}; allowed is {former} or a later one")
    if output("git", "tag", "--list", f"v{version}"):
        raise Refused(f"VERSION: found {version}, of which there is a tag v{version}; allowed is a later one")
    dirty = output("git", "status", "--porcelain")
    if dirty:
        raise Refused(f"the work tree has changes that are not committed; commit or stash them first:\n{dirty}")
    headings = HEADING.findall((ROOT / "CHANGELOG.md").read_text())
    if len(headings) != 1:
        raise Refused(f"CHANGELOG.md: found {len(headings)} headings `## VERSION (not released yet)`; allowed is one")


def changed(former: str, version: str, today: datetime.date) -> list[tuple[Path, str]]:
    """The files that name the version, with what they say of the new one."""
    changelog, manifest = ROOT / "CHANGELOG.md", ROOT / "Cargo.toml"
    heading = f"## {version} ({today.isoformat()})"
    of_package = re.compile(rf'^(\[workspace\.package\]\nversion = )"{re.escape(former)}"$', re.MULTILINE)
    files = [
        (changelog, HEADING.sub(heading, changelog.read_text())),
        (manifest, of_package.sub(rf'\1"{version}"', manifest.read_text())),
    ]
    own = re.compile(rf'^(name = "maquette(?:-[a-z-]+)?"\nversion = )"{re.escape(former)}"$', re.MULTILINE)
    for lock in (ROOT / "Cargo.lock", ROOT / "fuzz" / "Cargo.lock"):
        files.append((lock, own.sub(rf'\1"{version}"', lock.read_text())))
    # Results name the version that has made them.
    printed = re.compile(rf'(\bmaquette |"maquette":")({re.escape(former)})(?![\w.-])')
    recorded = ROOT / "crates" / "faces" / "command-line" / "tests" / "command_line"
    for page in [ROOT / "README.md", *sorted(recorded.glob("*.md"))]:
        files.append((page, printed.sub(rf"\g<1>{version}", page.read_text())))
    return files


def summary(version: str) -> str:
    """What the commit says."""
    return f"CHANGELOG.md says what {version} brings."


if __name__ == "__main__":
    sys.exit(main())
