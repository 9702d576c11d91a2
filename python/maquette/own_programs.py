"""Programs in Python files: how `maquette run program.py:halo --machine ...` and launched ranks run them."""

import argparse
import ast
import asyncio
import importlib.util
import json
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import maquette
from maquette.requests import steps_of
from maquette.running import check_arguments, coroutine_of

#: A file and a function in it.
_PROGRAM = re.compile(r"(?P<file>.+\.py):(?P<function>[A-Za-z_]\w*)")

#: The exit statuses of bad input, and after Ctrl-C.
_BAD_INPUT, _INTERRUPTED = 2, 130


def handles(arguments: Sequence[str]) -> bool:
    """Whether a command line runs a program in a Python file on a model."""
    return arguments[0] == "run" and any(_PROGRAM.fullmatch(argument) for argument in arguments[1:])


def main(arguments: Sequence[str]) -> int:
    """Run the program that the arguments name on a model, and return the exit status."""
    options, remaining = _parser().parse_known_args(list(arguments[1:]))
    try:
        try:
            program = _program(options.program)
            parameters = _parameters(program, remaining)
        except Exception as error:  # importing the file may raise anything
            return _report_error(error)
        return _run(program, options, parameters)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return _INTERRUPTED


def begin_of(file: str | Path, function: str, arguments: Sequence[str]) -> Callable[[int, int], Any]:
    """A function that begins a rank of a program in a file, for launched ranks; raises an error if its arguments are wrong."""
    program = _program(f"{file}:{function}")
    parameters = _parameters(program, arguments)
    check_arguments(program, parameters)

    def begin(rank: int, size: int) -> tuple[maquette.Endpoint, Any]:
        endpoint = maquette.Endpoint(rank, size)
        return endpoint, steps_of(coroutine_of(program, program(endpoint, **parameters)))

    return begin


def problem_of(error: BaseException) -> tuple[str, int]:
    """The report of an exception, and the exit status: where the user's code raised it, what to do, and how it came to that."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}", _BAD_INPUT
    whole = traceback.TracebackException.from_exception(error)
    own = [frame for frame in whole.stack if not _is_of(frame, *_OURS) and not _is_of(frame, *_LIBRARIES)]
    if not own:
        return str(error), 1 if isinstance(error, maquette.MaquetteError) else _BAD_INPUT
    place = f"{own[-1].filename}:{own[-1].lineno}: in {own[-1].name}"
    hint = f"\nhint: {_NO_EVENT_LOOP}" if _is_of_event_loop(error, whole.stack) else ""
    _without_ours(whole)
    return f"{place}: {type(error).__name__}: {error}{hint}\n{''.join(whole.format()).rstrip()}", 1


#: Folders whose code is not the user's: the package, and the libraries of Python.
_OURS = (str(Path(__file__).parent), "<")
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))

#: What to do instead of awaiting something of an event loop.
_NO_EVENT_LOOP = (
    "a rank awaits the verbs of its endpoint, maquette.join and maquette.first of these, and coroutines that do; nothing of asyncio or "
    'another event loop: time passes with `await endpoint.compute("1 us")` and `await endpoint.sleep_until("1 us")`'
)


def _is_of(frame: traceback.FrameSummary, *folders: str) -> bool:
    return frame.filename.startswith(folders)


def _is_of_event_loop(error: BaseException, stack: Sequence[traceback.FrameSummary]) -> bool:
    """Whether a program has awaited something that only an event loop can resume."""
    is_in_loop = Path(stack[-1].filename).parent == Path(asyncio.__file__).parent
    return is_in_loop or (isinstance(error, RuntimeError) and "event loop" in str(error))


def _without_ours(whole: traceback.TracebackException) -> None:
    """Leave out the frames of this package, and of what caused the exception likewise."""
    own = [frame for frame in whole.stack if not _is_of(frame, *_OURS)]
    whole.stack = traceback.StackSummary.from_list(own)
    for cause in (whole.__cause__, whole.__context__):
        if cause is not None:
            _without_ours(cause)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="maquette run",
        description="Other options are arguments of the function: --size 64 is size=64.",
        allow_abbrev=False,
    )
    parser.add_argument("program", metavar="FILE.py:FUNCTION", help="the program: an async function")
    parser.add_argument("--seed", type=int, metavar="S", help="the seed of random choices; 1, if left out")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs to read")
    parser.add_argument("--machine", required=True, metavar="NAME|FILE", help="a preset or a description")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="set a field of the description")
    parser.add_argument("--ranks", "--nodes", type=int, metavar="N", help="how many ranks; one on each node, if left out")
    parser.add_argument("--placement", metavar="WAY", help="the nodes that ranks run on")
    parser.add_argument("--engine", metavar="ENGINE", help="what moves the flits: fast or reference")
    parser.add_argument("--report", metavar="FILE", help="write a page with pictures of the run to FILE.html")
    parser.add_argument("--svg", metavar="FILE", help="write a figure of the run for a slide to FILE.svg")
    parser.add_argument("--png", metavar="FILE", help="the same to FILE.png")
    parser.add_argument("--figure", choices=("map", "timeline", "path"), help="which figure; the one that says most, if left out")
    parser.add_argument("--critical-path", action="store_true", help="show the chain of operations that determines the makespan")
    return parser


def _program(argument: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNCTION` names."""
    parts = _PROGRAM.fullmatch(argument)
    if parts is None:
        raise ValueError(f"program: found {argument}; allowed is FILE.py:FUNCTION, such as program.py:halo")
    path = Path(parts["file"])
    if not path.is_file():
        raise FileNotFoundError(f"program: found no file {path}; allowed is a Python file")
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


#: What is allowed where the function names one of these types.
_ALLOWED: dict[Any, str] = {int: "a whole number", float: "a number", bool: "True or False"}


def _parameters(program: Callable[..., Any], arguments: Sequence[str]) -> dict[str, Any]:
    """The arguments of the function, from the options that the command itself does not have."""
    parameters: dict[str, Any] = {}
    types = _types(program)
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not name[2:].replace("-", "_").isidentifier():
            raise ValueError(f"found {name}; allowed are options, and arguments of the function such as --size 64")
        if not equals:
            value = rest.pop(0) if rest and not rest[0].startswith("--") else "True"
        parameter = name[2:].replace("-", "_")
        parameters[parameter] = _value(name, value, types.get(parameter))
    return parameters


def _types(program: Callable[..., Any]) -> dict[str, Any]:
    """The types that the function names for its parameters, as far as they can be found."""
    try:
        return get_type_hints(program)
    except Exception:  # names that exist only for type checkers
        return {}


def _value(name: str, text: str, kind: Any) -> Any:
    """A value of the type that the function names; if it names none, a Python value, or else the text itself."""
    if kind is str:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    fits = type(value) is kind or (kind is float and type(value) is int)
    if kind in _ALLOWED and not fits:
        raise ValueError(f"{name}: found {text}; allowed is {_ALLOWED[kind]}, as the program says")
    return value


def _run(program: Callable[..., Any], options: argparse.Namespace, parameters: dict[str, Any]) -> int:
    settings = dict(each.partition("=")[::2] for each in options.set)
    how = {"ranks": options.ranks, "placement": options.placement, "engine": options.engine, "seed": options.seed}
    pictures = {ending: path for ending in ("svg", "png") if (path := getattr(options, ending)) is not None}
    needs_timeline = options.report is not None or options.critical_path or bool(pictures)
    try:
        machine = maquette.Machine(options.machine, set=settings)
        if options.report is not None:
            _check_output("--report", Path(options.report), ("html", "htm"))
        for ending, picture in pictures.items():
            _check_output(f"--{ending}", Path(picture), (ending,))
        if options.figure is not None and not pictures:
            raise ValueError(f"--figure: found {options.figure}; allowed is a figure together with --svg or --png, the file for it")
        run = maquette.run(program, machine, record=["timeline"] if needs_timeline else [], **how, **parameters)
        if options.report is not None:
            run.report(options.report)
        for picture in pictures.values():
            run.figure(options.figure).savefig(picture)
        path = _critical_path(run) if needs_timeline else {}
    except Exception as error:  # a program may raise anything
        return _report_error(error)
    if options.json:
        returned = {"returned": [_as_json(each) for each in run.returned]}
        print(json.dumps(run.to_dict() | ({"critical_path": path} if path else {}) | returned))
        return 0
    print(f"{run}\nmakespan  {run.makespan_ps} ps\nmessages  {run.message_count}")
    for part, length in path.items():
        print(f"critical path: {part.removesuffix('_ps')} {length} ps ({100 * length / max(run.makespan_ps, 1):.1f}%)")
    for warning in run.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    _print_returned(run.returned)
    return 0


def _critical_path(run: maquette.Run[Any]) -> dict[str, int]:
    """What the critical path spent its time on. [ps]"""
    table = run.critical_path.to_dict()
    parts = ("overhead_ps", "latency_ps", "bandwidth_ps", "contention_ps", "computing_ps", "waiting_ps")
    return {part: sum(table[part]) for part in parts}


def _check_output(option: str, path: Path, endings: tuple[str, ...]) -> None:
    """Check that a page or a picture can be written there, before anything has run."""
    if path.suffix.lower().removeprefix(".") not in endings:
        raise ValueError(f"{option}: found {path}; allowed is a name that ends in .{endings[0]}")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise OSError(f"cannot write {path}: {'it is a folder' if path.is_dir() else 'its folder cannot be written to'}")


def _as_json(value: Any) -> Any:
    """A JSON value, or else its Python representation."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return repr(value)
    return value


def _print_returned(returned: Sequence[Any]) -> None:
    for rank, each in enumerate(returned):
        if each is not None:
            print(f"rank {rank}: {each!r}")


def _report_error(error: Exception) -> int:
    """Report what went wrong, and return the exit status."""
    problem, status = problem_of(error)
    print(f"error: {problem}", file=sys.stderr)
    return status
