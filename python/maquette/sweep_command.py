"""What `maquette sweep` can also do when installed by pip: write Parquet, and use other computers."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from maquette import _maquette
from maquette._maquette import MaquetteError
from maquette.executors import Client, Executor, named
from maquette.sweeping import Sweep, check_ending, write_parquet

#: An output file, and an executor, on a command line.
_PARQUET = re.compile(r"(?:--out=)?(.+\.parquet)")
_EXECUTOR = re.compile(r"--executor(?:=(.*))?")

#: A function that runs a command line, and returns its exit status.
_Run = Callable[[list[str]], int]
#: The exit statuses of bad input, of what has failed, and after Ctrl-C.
_BAD_INPUT, _FAILED, _INTERRUPTED = 2, 1, 130


def handles(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for a sweep that the command alone cannot do."""
    return arguments[:1] == ["sweep"] and any(_PARQUET.fullmatch(argument) or _EXECUTOR.fullmatch(argument) for argument in arguments)


def main(arguments: Sequence[str], run: _Run) -> int:
    """Run such a command line.

    Parameters
    ----------
    arguments
        The arguments after the command's name.
    run
        The function that runs a command line without Parquet and executors.

    Returns
    -------
    int
        The exit status.
    """
    given = list(arguments)
    position = next((number for number, argument in enumerate(given) if _PARQUET.fullmatch(argument)), None)
    if position is None:
        return _run_anywhere(given, run)
    path = Path(given[position].removeprefix("--out="))
    arrow_file = path.with_name(f"{path.name}.arrow")
    given[position] = f"--out={arrow_file}" if given[position].startswith("--out=") else str(arrow_file)
    try:
        check_ending(path)
    except ValueError as error:
        return _report_error(f"--{error}", _BAD_INPUT)
    status = _run_anywhere([*given, "--reported-out", str(path)], run)
    if status not in (0, _FAILED) or not arrow_file.exists():
        return status
    write_parquet(arrow_file, path)
    arrow_file.unlink()
    return status


def _run_anywhere(arguments: list[str], run: _Run) -> int:
    """Run a sweep on the executor that it names: the results go to the journal, from which the command writes the table."""
    position = next((number for number, argument in enumerate(arguments) if _EXECUTOR.fullmatch(argument)), None)
    if position is None:
        return run(arguments)
    is_joined = "=" in arguments[position]
    name = "".join(arguments[position : position + (1 if is_joined else 2)]).removeprefix("--executor").removeprefix("=")
    try:
        with named(name) as executor:
            if executor is None:
                return 0
            status = _run_on(executor, arguments)
    except (ValueError, OSError) as error:
        return _report_error(f"--{error}" if isinstance(error, ValueError) else f"--executor: {error}", _BAD_INPUT)
    return status or run(arguments[:position] + arguments[position + (1 if is_joined else 2) :])


def _run_on(executor: Executor | Client, arguments: list[str]) -> int:
    """Have an executor run all points; returns the exit status if something went wrong."""
    try:
        text, out = _maquette.sweep_to_run(["maquette", *arguments])
    except SystemExit as error:
        return int(str(error.code))
    fields = json.loads(text)
    over = {axis["name"]: axis["values"] for axis in fields["over"]}
    try:
        sweep = Sweep(fields["experiment"], over, out=out)
    except (ValueError, TypeError, OSError) as error:
        return _report_error(str(error), _BAD_INPUT)
    try:
        sweep.run_points(executor)
    except (MaquetteError, OSError) as error:
        return _report_error(str(error), _FAILED)
    except KeyboardInterrupt:
        print(f"{sweep.done} of {sweep.points} points are done, and kept: the same command resumes", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _report_error(error: str, status: int) -> int:
    print(f"error: {error}", file=sys.stderr)
    return status
