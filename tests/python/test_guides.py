"""The guides of the documentation: their Python runs, their commands are those that there are, and both print what the pages say."""

import contextlib
import difflib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import maquette as mq
from maquette import store

ROOT = Path(__file__).parents[2]
GUIDES = sorted(path for path in (ROOT / "docs" / "guide").glob("*.md") if path.stem != "index")
#: A block of code, and the block behind it with what Python prints, if there is one.
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def printed(kind: str, code: str, names: dict[str, object]) -> str:
    """What a block prints: Python's, or those of its commands."""
    if kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "guide", "exec"), names)
        return out.getvalue()
    text = ""
    for line in (line for line in code.splitlines() if line.startswith("$ ")):
        words: list[str | Path] = [Path(sys.executable).with_name("maquette"), *shlex.split(line)[2:]]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (line, done.stderr)
        text += f"{line}\n{done.stdout}"
    return text


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.stem))
def test_a_guide_says_what_is_so(guide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that says something else is written anew, and then complained of."""
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
    wanted = BLOCK.sub(current, found)
    if wanted != found:
        guide.write_text(wanted)
        changed = "\n".join(difflib.unified_diff(found.splitlines(), wanted.splitlines(), lineterm="", n=0))
        pytest.fail(f"{guide} was not what is so; it is now: commit it\n{changed}")


def test_links_lead_somewhere() -> None:
    """Links between files; `make docs` checks those within the site, with their anchors."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *GUIDES]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text())]
    # The gallery is made of the examples.
    made = re.compile(r"\.\./gallery/(\w+)|gallery/index")
    lost = []
    for page, link in links:
        if "://" in link:
            continue
        example = made.fullmatch(link)
        target = ROOT / "examples" / f"{example[1]}.py" if example and example[1] not in (None, "index") else page.parent / link
        if not (target.exists() or (example and target.name == "index")):
            lost.append((page.name, link))
    assert len(links) > 40 and not lost


def test_the_reference_has_all_of_the_package() -> None:
    reference = (ROOT / "docs" / "reference" / "python.md").read_text()
    listed = set(re.findall(r"^\.\. auto(?:class|function|exception):: (\w+)", reference, re.MULTILINE))
    assert listed == (set(mq.__all__) - {"main"}) | (set(store.__all__) - {"Answer", "Reply"})
    of_a_run = re.search(r"autoclass:: Run\n   :members: (.*)", reference)
    assert of_a_run is not None
    made_by_it = {name for name in vars(mq.Run) if not name.startswith("_")} - {"finish_ps", "nodes", "found"}
    assert set(of_a_run[1].split(", ")) == made_by_it
