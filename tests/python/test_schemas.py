"""The JSON Schemas say what the parsers accept: editors that use them neither refuse what runs nor let through what does not."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import maquette as mq

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("maquette")
PRESETS = sorted((ROOT / "machines").glob("*.toml"))
#: Files that are read by the command: the examples, and the valid ones of its tests.
FILES = sorted([*ROOT.glob("examples/*.toml"), *ROOT.glob("crates/faces/command-line/tests/command_line/*.in/*.toml")])
#: TOML in the guides, the references and the documentation of the descriptions' fields.
BLOCK = re.compile(r"^ *(?://[/!] )?```toml\n(.*?)^ *(?://[/!] )?```", re.DOTALL | re.MULTILINE)

LOGGP = 'loggp = {{ nodes = 8, {} }}\n'
RUN = 'machine.name = "moc-2-1"\n[[job]]\n{}\n'
#: What is refused or accepted, whether it is a machine, and its text.
CASES = [
    ("the letters of LogGP", "machine", True, LOGGP.format('L = "2 us", o = "1 us", g = "1 us", G = "1 ns", O = "1 ns", S = "64 KiB"')),
    ("its names", "machine", True, LOGGP.format('latency = "2 us", overhead = "1 us", gap = "1 us"')),
    ("some of both", "machine", True, LOGGP.format('latency = "2 us", o = "1 us", gap = "1 us", G = "1 ns"')),
    ("a letter and its name", "machine", False, LOGGP.format('latency = "2 us", L = "2 us", o = "1 us", g = "1 us"')),
    ("an optional letter and its name", "machine", False, LOGGP.format('L = "2 us", o = "1 us", g = "1 us", G = "1 ns", gap_per_byte = "1 ns"')),
    ("neither", "machine", False, LOGGP.format('o = "1 us", g = "1 us"')),
    ("a letter that there is not", "machine", False, LOGGP.format('L = "2 us", o = "1 us", g = "1 us", l = "1 us"')),
    ("a rank", "experiment", True, RUN.format("ranks = 1\nprogram.broadcast = {}")),
    ("no ranks", "experiment", False, RUN.format("ranks = 0\nprogram.broadcast = {}")),
    ("no rounds", "experiment", False, RUN.format("program.all-pairs = { rounds = 0 }")),
    ("too wide a grid", "experiment", False, RUN.format("program.conjugate-gradient = { width = 4097 }")),
    ("no file of GOAL", "experiment", False, RUN.format("program.goal = {}")),
    ("no file of a schedule", "experiment", False, RUN.format("program.schedule = {}")),
    ("no file of a trace", "experiment", False, RUN.format('program.trace = { all_reduce = "ring" }')),
    ("a share", "experiment", True, RUN.format("program.cast = { have = 0.5 }")),
    ("a share as a text", "experiment", True, RUN.format('program.cast = { have = "0.5" }')),
    ("more than a whole", "experiment", False, RUN.format("program.cast = { have = 1.5 }")),
    ("two programs", "experiment", False, RUN.format("program = { broadcast = {}, fft = {} }")),
    ("a mistyped parameter", "experiment", False, RUN.format("program.broadcast = { byte = 1 }")),
    ("packets of nothing", "experiment", False, "background.packet = 0\n" + RUN.format("program.broadcast = {}")),
    ("options of a store", "store", True, 'port = 7001\nbind = ["127.0.0.1", "::1"]\nmax-memory = "1 GiB"\nevict = true\n'),
    ("one address", "store", True, 'bind = "127.0.0.1"\nfsync = "always"\ndata = "ours"\n'),
    ("a port that there is not", "store", False, "port = 70000\n"),
    ("a switch as a text", "store", False, 'evict = "true"\nmax-memory = 1\n'),
    ("a mistyped option", "store", False, "max_memory = 1\n"),
    ("a mistyped value", "store", False, 'log-format = "xml"\n'),
]


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    def printed(of: str) -> Any:
        done = subprocess.run([COMMAND, "schema", of], capture_output=True, text=True, check=True, timeout=60)
        schema = json.loads(done.stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    return {of: printed(of) for of in ("machine", "experiment", "store")}


def is_read(of: str, path: Path) -> bool:
    """Whether the parser accepts what is in a file, which need not make sense."""
    # An experiment or a store's options that could be read are refused for what comes after them.
    arguments, refusal = {
        "machine": (["machine", str(path)], None),
        "experiment": (["sweep", str(path), "--over", "seed=1", "--over", "seed=1"], "seed: found twice"),
        "store": (["store", "serve", "--max-clients", "0", "--config", str(path)], "--max-clients: found 0"),
    }[of]
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode == 0 if refusal is None else refusal in done.stderr


@pytest.mark.parametrize(("of", "accepted", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_schema_and_parser_agree(schemas: dict[str, Any], tmp_path: Path, of: str, accepted: bool, text: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text(text)
    assert (schemas[of].is_valid(tomllib.loads(text)), is_read(of, path)) == (accepted, accepted)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: str(path.stem))
def test_every_preset_follows_the_schema(schemas: dict[str, Any], preset: Path) -> None:
    assert mq.Machine(preset.stem).name == preset.stem
    schemas["machine"].validate(tomllib.loads(preset.read_text()))


def test_every_file_that_is_read_follows_a_schema(schemas: dict[str, Any], tmp_path: Path) -> None:
    texts = [path.read_text() for path in FILES]
    sources = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("crates/models/machines/src/description/**/*.rs")]
    for source in sources:
        texts += [re.sub(r"^ *//[/!] ?", "", block, flags=re.MULTILINE) for block in BLOCK.findall(source.read_text())]
    seen = {"machine": 0, "experiment": 0}
    for number, text in enumerate(texts):
        try:
            fields = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        for of in seen:
            if is_read(of, path):
                seen[of] += 1
                schemas[of].validate(fields)
    assert seen["machine"] >= 4 and seen["experiment"] >= 4, seen
