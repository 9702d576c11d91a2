"""The files outside the crates that the source distribution has to contain, so that it can be built elsewhere."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: A file that is compiled into the command.
BUILT_IN = re.compile(r'include_(?:str|bytes)!\((?:concat!\()?"([^"]*)"')


def test_every_file_that_is_built_in_is_in_the_source_distribution() -> None:
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    patterns = [each["path"] for each in maturin["include"] if each["format"] == "sdist"]
    outside = set()
    for source in ROOT.glob("crates/**/src/**/*.rs"):
        for name in BUILT_IN.findall(source.read_text()):
            path = (source.parent / name).resolve().relative_to(ROOT)
            if path.parts[0] != "crates":
                outside.add(str(path))
    assert "experiments/moc/claims.toml" in outside
    # The sources name only the folder of the presets.
    assert "machines" in outside
    outside = outside - {"machines"} | {"machines/delta.toml"}
    assert [path for path in sorted(outside) if not any(fnmatch(path, pattern) for pattern in patterns)] == []
