"""Machines from Python: presets, files, descriptions, settings."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import maquette as mq

COMMAND = Path(sys.executable).with_name("maquette")


def test_its_facts_are_those_that_the_command_prints() -> None:
    machine = mq.Machine("infiniband-128", set={"channels.buffers": 128})
    done = subprocess.run(
        [COMMAND, "machine", "infiniband-128", "--set", "channels.buffers=128", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert machine.facts() == json.loads(done.stdout)
    assert (machine.name, machine.nodes) == ("infiniband-128", 128)
    assert machine.about == machine.facts()["about"]
    assert repr(machine).startswith("<maquette.Machine infiniband-128: 128 nodes; ")


def test_a_machine_is_made_from_a_file_or_a_dict(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "machines" / "moc-2-1.toml").read_text()
    (tmp_path / "mine.toml").write_text(text)
    from_file = mq.Machine(tmp_path / "mine.toml")
    assert from_file.facts()["network"] == mq.Machine("moc-2-1").facts()["network"]
    from_dict = mq.Machine(tomllib.loads(text))
    assert from_dict.facts()["network"] == from_file.facts()["network"]


@pytest.mark.parametrize(
    ("description", "settings", "expected"),
    [
        ("infiniband-182", {}, "did you mean `infiniband-128`?"),
        ("moc-3-2", {"channels.bufers": 4}, "there is no field `bufers`; did you mean `buffers`?"),
        ("moc-3-2", {"buffers": 0}, "found 0; allowed is 1 to 1048576 flits"),
        ({"topologi": {}}, {}, "did you mean `topology`?"),
    ],
)
def test_wrong_descriptions_are_reported(description: str, settings: dict[str, int], expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        mq.Machine(description, set=settings)
    assert expected in str(caught.value)


def test_a_file_that_does_not_exist_is_reported() -> None:
    with pytest.raises((OSError, ValueError), match="no-such-file.toml"):
        mq.Machine("no-such-file.toml")
