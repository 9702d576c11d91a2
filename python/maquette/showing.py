"""How objects display themselves in a notebook: as a page of their own, drawn by the core, in a frame of the cell."""

import html
from collections.abc import Sequence

from maquette import _maquette


def frame(page: str, height: int) -> str:
    """A page in a frame of the given height. [px] Its style sheet does not leak out, and it fetches nothing."""
    style = f"width:100%;height:{height}px;border:0"
    return f'<iframe sandbox style="{style}" srcdoc="{html.escape(page)}"></iframe>'


def figure(
    title: str,
    lead: str,
    axes: tuple[str, str],
    bars: Sequence[tuple[str, float]],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    height: int = 420,
) -> str:
    """A bar chart with its two axis labels and the table behind it, in a frame."""
    page = _maquette.figure_page((title, lead), axes, list(bars), list(head), [list(row) for row in rows])
    return frame(page, height)


def counted(count: int, one: str) -> str:
    """A count with its noun: 1 rank, 2 ranks."""
    return f"{count} {one}{'' if count == 1 else 's'}"


def time(picoseconds: float) -> str:
    """A time in a suitable unit, to four digits."""
    for unit, length in (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if picoseconds >= length:
            return f"{picoseconds / length:.4g} {unit}"
    return f"{picoseconds:.4g} ps"
