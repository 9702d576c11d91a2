"""The guides of the documentation: their Python code and their commands run, and print what the pages show."""

import contextlib
import difflib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import maquette as mq
from maquette import store

ROOT = Path(__file__).parents[2]
GUIDES = sorted(path for path in (ROOT / "docs" / "guide").glob("*.md") if path.stem != "index")
#: A block of code, and the block after it with the output of Python, if there is one.
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def printed(kind: str, code: str, names: dict[str, object]) -> str:
    """The output of a block: that of its Python code, or of its commands."""
    if kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "guide", "exec"), names)
        return out.getvalue()
    text = ""
    for line in (line for line in code.splitlines() if line.startswith("$ ")):
        command: list[str | Path] = [Path(sys.executable).with_name("maquette"), *shlex.split(line)[2:]]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (line, done.stderr)
        text += f"{line}\n{done.stdout}"
    return text


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.stem))
def test_a_guide_shows_the_actual_output(guide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with other output is rewritten, and the test fails."""
    for module in ("numpy", "polars"):
        pytest.importorskip(module)
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}

    def current(block: re.Match[str]) -> str:
        kind, code, _ = block.groups()
        out = printed(kind, code, names)
        if kind == "console":
            return f"```console\n{out}```\n"
        return f"```python\n{code}```\n" + (f"\n```text\n{out}```\n" if out else "")

    found = guide.read_text()
    updated = BLOCK.sub(current, found)
    if updated != found:
        guide.write_text(updated)
        changed = "\n".join(difflib.unified_diff(found.splitlines(), updated.splitlines(), lineterm="", n=0))
        pytest.fail(f"{guide} had other output; it is up to date now: commit it\n{changed}")


def test_links_have_targets() -> None:
    """Links between files; `make docs` checks those within the site, with their anchors."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *GUIDES]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text())]
    # The gallery is generated from the examples.
    generated = re.compile(r"\.\./gallery/(\w+)|gallery/index")
    broken = []
    for page, link in links:
        if "://" in link:
            continue
        example = generated.fullmatch(link)
        target = ROOT / "examples" / f"{example[1]}.py" if example and example[1] not in (None, "index") else page.parent / link
        if not (target.exists() or (example and target.name == "index")):
            broken.append((page.name, link))
    assert len(links) > 40 and not broken


def test_the_reference_has_all_public_names() -> None:
    reference = (ROOT / "docs" / "reference" / "python.md").read_text()
    listed = set(re.findall(r"^\.\. auto(?:class|function|exception):: (\w+)", reference, re.MULTILINE))
    assert listed == (set(mq.__all__) - {"main"}) | (set(store.__all__) - {"Answer", "Reply"})
    members_of_run = re.search(r"autoclass:: Run\n   :members: (.*)", reference)
    assert members_of_run is not None
    properties_and_methods = {name for name in vars(mq.Run) if not name.startswith("_")} - {"finish_ps", "nodes", "found"}
    assert set(members_of_run[1].split(", ")) == properties_and_methods


def test_the_plan_in_a_guide_is_what_the_command_above_it_writes(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "planned-collectives.md").read_text()
    command = next(line for line in guide.splitlines() if line.startswith("$ maquette plan collectives"))
    shown = guide.split("```toml\n")[1].split("```")[0]
    maquette = Path(sys.executable).with_name("maquette")
    subprocess.run([maquette, *shlex.split(command)[2:], "--write", tmp_path / "plan.toml"], check=True, capture_output=True, timeout=120)
    written = tomllib.loads((tmp_path / "plan.toml").read_text())
    assert tomllib.loads(shown) == {name: value for name, value in written.items() if name not in ("all_reduce", "all_to_all")}
