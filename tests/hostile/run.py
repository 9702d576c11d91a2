"""Runs every hostile case, including the long ones, and prints how many hold.

Usage: python tests/hostile/run.py [names of cases, as for pytest's -k]
"""

import sys
from pathlib import Path

import pytest


class Tally:
    """Counts the cases, and those that hold."""

    def __init__(self) -> None:
        self.cases = 0
        self.hold = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed or report.skipped:
            self.cases += 1
            self.hold += report.passed


def main(names: list[str]) -> int:
    tally = Tally()
    selection = ["-k", " or ".join(names)] if names else []
    status = pytest.main([str(Path(__file__).parent), "-m", "", "-q", *selection], plugins=[tally])
    print(f"{tally.hold} of {tally.cases} cases hold")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
