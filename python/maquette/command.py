"""The command `maquette`, as the package installs it."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from maquette import _maquette

#: The library that `maquette trace` preloads into MPI processes, if the package has it.
TRACE_LIBRARY = Path(__file__).with_name("libmaquette_trace.so")
#: The library that `maquette collectives` preloads, likewise.
COLLECTIVES_LIBRARY = Path(__file__).with_name("libmaquette_mpi_collectives.so")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `maquette` and return its exit status.

    Parameters
    ----------
    arguments
        The arguments after the command's name; by default those of this process.

    Returns
    -------
    int
        0 on success, 1 when it ran and the answer is no, 2 when the input was bad, 128 plus the signal's number when
        a signal ended it: 130 after Ctrl-C.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    for variable, library in (("MAQUETTE_TRACE_LIBRARY", TRACE_LIBRARY), ("MAQUETTE_COLLECTIVES_LIBRARY", COLLECTIVES_LIBRARY)):
        if library.exists():
            os.environ.setdefault(variable, str(library))
    with _ending_on_signals():
        if len(arguments) > 1 and any(".py:" in argument for argument in arguments):
            from maquette import own_programs

            if own_programs.handles(arguments):
                return own_programs.main(arguments)
        if arguments[:1] == ["sweep"]:
            from maquette import sweep_command

            if sweep_command.handles(arguments):
                return sweep_command.main(arguments, lambda rest: _maquette.run(["maquette", *rest]))
        return _maquette.run(["maquette", *arguments])


def _end(number: int, _: FrameType | None) -> NoReturn:
    """Stop the command, with the exit status that a shell reports for a process ended by this signal."""
    raise SystemExit(128 + number)


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP stop the command in order, so that it leaves no unfinished file, unless they are already handled or
    ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    unhandled = [each for each in signals if signal.getsignal(each) is signal.SIG_DFL]
    for each in unhandled:
        signal.signal(each, _end)
    try:
        yield
    finally:
        for each in unhandled:
            signal.signal(each, signal.SIG_DFL)
