"""Published results, reproduced."""

import json
import os
from dataclasses import dataclass, field
from typing import Any

from maquette import _maquette

PAPERS = ("moc", "postal", "cm5", "lh", "bcast")


@dataclass(frozen=True)
class Claim:
    """The outcome of a paper's claim.

    Attributes
    ----------
    id : str
        Its name, such as ``"moc.fig5"``.
    verdict : str
        The last of those of its conditions: ``"met"``, ``"met-fitted"`` (with parameters that were fitted to this very figure),
        ``"contradicts-paper"`` (the paper itself prints something else), ``"missed"`` or ``"not-run"``.
    conditions : list of dict
        Its conditions: the ``quantity``, what it ``says`` that the quantity must be, the ``verdict``, in how many of how many
        ``numbers`` it is ``holding``, and the verdict in the study's ``other`` configuration, if there is one.
    published, ours : object
        The paper's result, and ours.
    unit : str or None
        The unit of the numbers.
    error_percent : float or None
        How far ours is from the published one, where that is known. [%]
    ran : str
        What was run for it.
    note : str
        A remark: what failed, and why, as far as we know.
    fitted : str or None
        The parameters that were fitted to the claim, or chosen by it.
    rule_changed : str or None
        How the claim's rule was changed after a run.
    """

    id: str
    verdict: str
    conditions: list[dict[str, Any]]
    published: Any
    ours: Any
    unit: str | None
    error_percent: Any
    ran: str
    note: str
    fitted: str | None
    rule_changed: str | None

    @property
    def is_met(self) -> bool:
        """Whether it is met, possibly with parameters that were fitted to it."""
        return self.verdict.startswith("met")


@dataclass(frozen=True)
class Reproduction:
    """The outcome of every claim of some papers.

    Attributes
    ----------
    claims : list of Claim
        All of them, in the order of the papers.
    html : str
        The report with the redrawn figures: one self-contained page.
    """

    claims: list[Claim]
    html: str = field(repr=False)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        met = sum(claim.is_met for claim in self.claims)
        return f"<maquette.Reproduction: {met} of {len(self.claims)} claims met>"


def reproduce(*papers: str) -> Reproduction:
    """Reproduce the claims of papers, on all cores.

    Parameters
    ----------
    *papers
        Any of ``"moc"``, ``"postal"``, ``"cm5"``, ``"lh"`` and ``"bcast"``; by default all.

    Returns
    -------
    Reproduction
        The outcome of each claim, and the report.

    Raises
    ------
    ValueError
        If there is no such paper.
    """
    lines, html = _maquette.reproduce(list(dict.fromkeys(papers)) or list(PAPERS))
    fields = Claim.__dataclass_fields__
    claims = [json.loads(line) for line in lines.splitlines()]
    return Reproduction([Claim(**{name: claim[name] for name in fields}) for claim in claims], html)


@dataclass(frozen=True)
class Point:
    """A number of a figure or table, and how to have it by a command or a short program of one's own.

    Attributes
    ----------
    paper, place : str
        The paper, and the figure or table: ``"moc"``, ``"figure 8"``.
    what : str
        What the number is, with its unit.
    by : dict
        ``{"commands": {"lines": [...], "reads": "/makespan_ps"}}``: commands, and where the number is in the JSON that the last one
        prints (``*`` is the mean over a list, ``#`` its length); ``{"more": {"line": ..., "than": ..., "reads": ...}}``: by how many percent the
        number of one command is more than that of another; or ``{"python": {"text": ...}}``: a program that prints it.
    value : float
        The number of the study.
    apart : float
        How far the two may be apart, as a share of the number: 0, where both are the same computation.
    """

    paper: str
    place: str
    what: str
    by: dict[str, dict[str, Any]]
    value: float
    apart: float


def points(*papers: str) -> list[Point]:
    """A point of each figure and table of papers.

    Parameters
    ----------
    *papers
        Any of ``"moc"``, ``"postal"``, ``"cm5"``, ``"lh"`` and ``"bcast"``; by default all.

    Returns
    -------
    list of Point
        How to have each, with the number that the study has there.

    Raises
    ------
    ValueError
        If there is no such paper.
    """
    lines = _maquette.points(list(dict.fromkeys(papers)) or list(PAPERS))
    return [Point(**json.loads(line)) for line in lines.splitlines()]
