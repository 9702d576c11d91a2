"""A point of each figure of the studies is had by the command or the program that the report shows under it."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

COMMANDS = Path(sys.executable).parent
#: Figures and tables of which no command gives a point, and why.
WITHOUT = {
    ("cm5", "table 12"): "the time that applications take to gather a message is not a parameter of any command",
    ("bcast", "section 3"): "a run counts what became of every frame of a broadcast with losses",
    ("bcast", "figure 6"): "memory is counted in buffers, not run",
}


def read(found: Any, pointer: str) -> float:
    """The number at a JSON pointer, in which `*` takes the mean over a list, and `#` at the end the length of one."""
    for number, step in enumerate(steps := pointer.strip("/").split("/")):
        if step == "#":
            return float(len(found))
        if step == "*":
            rest = "/".join(steps[number + 1 :])
            return sum(read(one, rest) if rest else float(one) for one in found) / len(found)
        found = found[int(step)] if isinstance(found, list) else found[step]
    return float(found)


def had(point: mq.Point, folder: Path, printed: dict[str, str]) -> float:
    """The number that the commands or the program give; what was `printed` before is not run again."""
    environment = os.environ | {"PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}
    kind, how = next(iter(point.by.items()))
    lines_of: dict[str, Callable[[], list[str]]] = {
        "commands": lambda: how["lines"],
        "more": lambda: [how["line"], how["than"]],
        "python": lambda: [shlex.join([sys.executable, "-c", how["text"]])],
    }
    lines = lines_of[kind]()
    for line in lines:
        if line not in printed:
            arguments = shlex.split(line)
            done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            printed[line] = done.stdout
    if kind == "python":
        return float(printed[lines[-1]])
    if kind == "commands":
        return read(json.loads(printed[lines[-1]]), how["reads"])
    more, than = (read(json.loads(printed[line]), how["reads"]) for line in lines)
    return (more / than - 1) * 100


@pytest.mark.parametrize("paper", ["moc", "postal", "cm5", "lh", "bcast"])
def test_a_point_of_each_figure_is_had_by_what_stands_under_it(paper: str, tmp_path: Path) -> None:
    points, printed = mq.points(paper), dict[str, str]()
    for point in points:
        assert had(point, tmp_path, printed) == pytest.approx(point.value, rel=max(point.apart, 1e-12)), point.what
    treated = {(point.paper, point.place) for point in points} | {key for key in WITHOUT if key[0] == paper}
    assert len(treated) == len(points) + sum(key[0] == paper for key in WITHOUT)
    html = mq.reproduce(paper).html if paper == "postal" else ""
    headings = re.findall(r"<h2[^>]*>([^<:]+): ", html)
    assert {place.lower() for place in headings} <= {place for _, place in treated}
