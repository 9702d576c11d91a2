"""Programs in files of Python, as the command runs and launches them: `maquette run program.py:halo --machine ...`."""

import argparse
import ast
import importlib.util
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import maquette

#: A file and a function in it.
_PROGRAM = re.compile(r"(?P<file>.+\.py):(?P<function>[A-Za-z_]\w*)")

#: What the command calls bad input.
_BAD_INPUT = 2


def names_one(arguments: Sequence[str]) -> bool:
    """Whether a command line is about a program in a file of Python."""
    words = [word for word in arguments[1:] if _PROGRAM.fullmatch(word)]
    return bool(words) and arguments[0] in ("run", "launch")


def main(arguments: Sequence[str]) -> int:
    """Run or launch the program that the arguments name, and give the exit status."""
    options, own = _parser(arguments[0]).parse_known_args(list(arguments[1:]))
    try:
        program = _program(options.program)
        parameters = _parameters(own)
    except Exception as error:  # whatever a file raises when it is imported
        return _told(error)
    if arguments[0] == "launch":
        return _launched(program, options, parameters)
    return _ran(program, options, parameters)


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"maquette {command}",
        description="Other options are arguments of the function: --size 64 is size=64.",
        allow_abbrev=False,
    )
    parser.add_argument("program", metavar="FILE.py:FUNCTION", help="the program: an async function")
    parser.add_argument("--seed", type=int, metavar="S", help="what random choices follow from; 1, if left out")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs to read")
    if command == "launch":
        parser.add_argument("--local", type=int, required=True, metavar="N", help="so many ranks on this computer")
        return parser
    parser.add_argument("--machine", required=True, metavar="NAME|FILE", help="a preset or a description")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="set a field of the description")
    parser.add_argument("--ranks", "--nodes", type=int, metavar="N", help="how many ranks; one on each node, if left out")
    parser.add_argument("--placement", metavar="WAY", help="on which nodes they stand")
    parser.add_argument("--engine", metavar="ENGINE", help="what moves the flits: fast or reference")
    parser.add_argument("--report", metavar="FILE", help="write a page with pictures of the run to FILE.html")
    parser.add_argument("--critical-path", action="store_true", help="tell which chain of operations makes the makespan")
    return parser


def _program(word: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNCTION` means."""
    parts = _PROGRAM.fullmatch(word)
    if parts is None:
        raise ValueError(f"program: found {word}; allowed is FILE.py:FUNCTION, such as program.py:halo")
    path = Path(parts["file"])
    if not path.is_file():
        raise FileNotFoundError(f"program: found no file {path}; allowed is a file of Python")
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    function = getattr(module, parts["function"], None)
    if not callable(function):
        known = [name for name, each in vars(module).items() if callable(each) and each.__module__ == path.stem]
        raise ValueError(f"program: found no function {parts['function']} in {path}; there are {', '.join(known) or 'none'}")
    return function  # type: ignore[no-any-return]


def _parameters(words: Sequence[str]) -> dict[str, Any]:
    """The arguments of the function, from what the command has no options for."""
    parameters: dict[str, Any] = {}
    rest = list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not name[2:].replace("-", "_").isidentifier():
            raise ValueError(f"found {name}; allowed are options, and arguments of the function such as --size 64")
        if not equals:
            value = rest.pop(0) if rest and not rest[0].startswith("--") else "True"
        parameters[name[2:].replace("-", "_")] = _value(value)
    return parameters


def _value(text: str) -> Any:
    """A value of Python, or else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _ran(program: Callable[..., Any], options: argparse.Namespace, parameters: dict[str, Any]) -> int:
    settings = dict(each.partition("=")[::2] for each in options.set)
    how = {"ranks": options.ranks, "placement": options.placement, "engine": options.engine, "seed": options.seed}
    told = options.report is not None or options.critical_path
    try:
        machine = maquette.Machine(options.machine, set=settings)
        if options.report is not None:
            _check_report(Path(options.report))
        run = maquette.run(program, machine, record=["timeline"] if told else [], **how, **parameters)
        if options.report is not None:
            run.report(options.report)
        path = _critical_path(run) if told else {}
    except Exception as error:  # whatever a program raises
        return _told(error)
    if options.json:
        print(json.dumps(run.to_dict() | ({"critical_path": path} if path else {}) | {"returned": [repr(each) for each in run.returned]}))
        return 0
    print(f"{run}\nmakespan  {run.makespan_ps} ps\nmessages  {run.message_count}")
    for part, length in path.items():
        print(f"critical path: {part.removesuffix('_ps')} {length} ps ({100 * length / max(run.makespan_ps, 1):.1f}%)")
    for warning in run.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    _print_returned(run.returned)
    return 0


def _critical_path(run: maquette.Run[Any]) -> dict[str, int]:
    """What the time of the critical path went to. [ps]"""
    table = run.critical_path.to_dict()
    parts = ("latency_ps", "bandwidth_ps", "contention_ps", "computing_ps", "waiting_ps")
    return {part: sum(table[part]) for part in parts}


def _check_report(path: Path) -> None:
    """That a page can be written there, before anything has run."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report: found {path}; allowed is a name that ends in .html")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise OSError(f"cannot write {path}: {'it is a folder' if path.is_dir() else 'its folder cannot be written to'}")


def _launched(program: Callable[..., Any], options: argparse.Namespace, parameters: dict[str, Any]) -> int:
    try:
        launch = maquette.launch(program, local=options.local, seed=options.seed, **parameters)
    except Exception as error:  # whatever a program raises
        return _told(error)
    if options.json:
        returned = [repr(each) for each in launch.returned]
        told = {"program": launch.program, "ranks": launch.ranks, "finish_ps": launch.finish_ps, "returned": returned}
        print(json.dumps(told | {"elapsed_s": launch.elapsed_s}))
        return 0
    print(f"{launch}\nlast done {max(launch.finish_ps)} ps")
    _print_returned(launch.returned)
    return 0


def _print_returned(returned: Sequence[Any]) -> None:
    for rank, each in enumerate(returned):
        if each is not None:
            print(f"rank {rank}: {each!r}")


def _told(error: Exception) -> int:
    """Tell what went wrong: where in the program, if it was there; gives the exit status."""
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(__file__).parent)
    if any(not frame.filename.startswith(package) for frame in frames):
        traceback.print_exception(error)
        return 1
    print(f"error: {error}", file=sys.stderr)
    return 1 if isinstance(error, maquette.MaquetteError) else _BAD_INPUT
