"""Maquette: message-passing programs on models of machines, accurate to the flit."""

import sys
from collections.abc import Sequence

from maquette import _maquette

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `maquette` and give its exit status.

    Parameters
    ----------
    arguments
        What stands after the command's name; those of this process if left out.

    Returns
    -------
    int
        0 when it went well, 1 when it ran and the answer is no, 2 when the input was bad, 130 when it was interrupted.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    return _maquette.run(["maquette", *arguments])
