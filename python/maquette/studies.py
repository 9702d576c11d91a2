"""Published results, run again."""

import json
import os
from dataclasses import dataclass, field
from typing import Any

from maquette import _maquette

PAPERS = ("moc", "postal", "cm5", "lh", "bcast")


@dataclass(frozen=True)
class Claim:
    """What became of a paper's claim.

    Attributes
    ----------
    id : str
        Its name, such as ``"moc.fig5"``.
    verdict : str
        ``"met"``, ``"met-fitted"`` (with parameters that were fitted to this very figure), ``"missed"`` or ``"not-run"``.
    published, ours : object
        What the paper has, and what we have.
    unit : str or None
        The unit of the numbers.
    error_percent : float or None
        How far ours is from the published, where that is known. [%]
    ran : str
        What was run for it.
    note : str
        What is reported about it: what failed, and why we think it did.
    fitted : str or None
        Which parameters were fitted to the claim, or chosen by it.
    rule_changed : str or None
        How the claim's rule was changed after a run.
    """

    id: str
    verdict: str
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
        """Whether it is met, if only with parameters that were fitted to it."""
        return self.verdict.startswith("met")


@dataclass(frozen=True)
class Reproduction:
    """What became of every claim of some papers.

    Attributes
    ----------
    claims : list of Claim
        All of them, in the order of the papers.
    html : str
        The report with the figures drawn anew: one page that needs no network.
    """

    claims: list[Claim]
    html: str = field(repr=False)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path
            Where to; what is there is replaced.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        met = sum(claim.is_met for claim in self.claims)
        return f"<maquette.Reproduction: {met} of {len(self.claims)} claims met>"


def reproduce(*papers: str) -> Reproduction:
    """Run the claims of papers again, on all cores.

    Parameters
    ----------
    *papers
        Which: ``"moc"``, ``"postal"``, ``"cm5"``, ``"lh"`` and ``"bcast"``; all, if left out.

    Returns
    -------
    Reproduction
        What became of each claim, and the report.

    Raises
    ------
    ValueError
        If there is no such paper.
    """
    lines, html = _maquette.reproduce(list(dict.fromkeys(papers)) or list(PAPERS))
    wanted = Claim.__dataclass_fields__
    claims = [json.loads(line) for line in lines.splitlines()]
    return Reproduction([Claim(**{name: claim[name] for name in wanted}) for claim in claims], html)
