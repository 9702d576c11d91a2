"""Figures for slides and papers."""

from __future__ import annotations

import os
from typing import Literal

from maquette import _maquette

#: The figures of a run.
FigureName = Literal["map", "timeline", "path"]


class Figure:
    """A figure for a slide: a notebook shows it, and :meth:`savefig` writes it, as figures of matplotlib do."""

    def __init__(self, ended: _maquette.Ended, name: FigureName | None) -> None:
        self._ended = ended
        self._name = name

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        return self._ended.figure(self._name) or ""

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
        self._ended.write_figure(self._name, os.fspath(path))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<maquette.Figure {self._name or 'of what says most'}>"
