"""Figures for slides and papers."""

from __future__ import annotations

import os
from typing import Literal

from maquette import _maquette

#: The figures of a run.
FigureName = Literal["map", "timeline", "path"]


class Figure:
    """A figure for a slide: a notebook shows it, and :meth:`savefig` writes it, as figures of matplotlib do."""

    def __init__(self, svg: str) -> None:
        #: The figure as SVG.
        self.svg = svg

    def savefig(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file.

        Parameters
        ----------
        path
            The file: it ends in ``.svg``, or in ``.png`` for 2560 by 1440 pixels.

        Raises
        ------
        ValueError
            If it ends in something else.
        OSError
            If it cannot be written.
        """
        _maquette.write_picture(self.svg, os.fspath(path))

    def _repr_svg_(self) -> str:
        return self.svg
