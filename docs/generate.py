"""Pages generated from the command's own output, so that they always describe this version."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

_COMMAND = Path(sys.executable).with_name("maquette")
_ROOT = Path(__file__).parents[1]


def generate(folder: Path) -> None:
    """Write all pages into a folder.

    Parameters
    ----------
    folder
        The folder; it is created if necessary.
    """
    folder.mkdir(exist_ok=True)
    pages = {"collectives": _collectives(), "programs": _programs(), "machines": _machines(), "commands": _commands(), "claims": _claims()}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        # What has not changed is not written, so that Sphinx need not read it again.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _told(*words: str) -> str:
    return subprocess.run([_COMMAND, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _collectives() -> str:
    """The algorithms of each collective, with what they cost."""
    text = ""
    for program in json.loads(_told("programs", "--json")):
        algorithms = program["algorithms"]
        if not algorithms:
            continue
        text += f"## {program['name']}\n\n{program['about']}\n\n"
        rows = [[f"`{each['name']}`", each["about"], f"`{each['formula']}`"] for each in algorithms]
        text += _table(["algorithm", "description", "time without contention"], rows) + "\n"
        text += f"{_escaped(' '.join(program['legend'].split()))}.\n\n"
    return text


def _programs() -> str:
    rows = [[f"`{each['name']}`", each["about"]] for each in json.loads(_told("programs", "--json"))]
    return _table(["program", "what it does"], rows)


def _machines() -> str:
    rows = [[f"`{each['name']}`", str(each["nodes"]), each["about"]] for each in _presets()]
    return _table(["preset", "nodes", "description"], rows)


def _presets() -> list[dict[str, Any]]:
    presets: list[dict[str, Any]] = json.loads(_told("machines", "--json"))
    return presets


def _commands() -> str:
    """The help of each command, and of each below it."""
    return _help(json.loads(_told("manual", "--json")), 2)


def _help(command: dict[str, Any], level: int) -> str:
    page = f"{'#' * level} {command['name']}\n\n```text\n{command['help'].rstrip()}\n```\n\n"
    # The programs of a command have a page of their own.
    below = command["commands"] if command["below"] == "Commands" else []
    return page + "".join(_help(each, level + 1) for each in below)


def _claims() -> str:
    """The number of claims of each paper, and the claims."""
    text = ""
    for paper in ("moc", "postal", "cm5", "lh", "bcast"):
        path = _ROOT / "experiments" / paper / "claims.toml"
        about = " ".join(line.removeprefix("# ") for line in path.read_text().splitlines()[:3])
        source = re.search(r"What (.*?), claims", about)
        assert source is not None, path
        claims = tomllib.loads(path.read_text())["claim"]
        rows = [[f"`{each['id']}`", each["source"], _escaped(each["says"])] for each in claims]
        text += f"## `{paper}`: {len(claims)} claims\n\n{source[1]}\n\n" + _table(["claim", "source", "statement"], rows) + "\n"
    return text


def _escaped(text: str) -> str:
    """A text as Markdown that means the same."""
    return re.sub(r"([*_<>\[\]])", r"\\\1", text)
