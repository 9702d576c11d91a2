"""The page of a run, `maquette run ... --report`, in a browser without network: it shows the same figures as `--json`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chromium

JOBS = """
[machine]
name = "infiniband-128"
[[job]]
name = "ring"
ranks = 24
placement = "random"
program.all-reduce = { algorithm = "ring", bytes = "16 KiB" }
[[job]]
name = "exchange"
ranks = 32
placement = "scattered-switches"
program.all-to-all = { bytes = "1 KiB" }
"""
GOAL = """num_ranks 3
rank 0 {
a: calc 500
b: send 1000b to 1
b requires a
}
rank 1 {
a: recv 1000b from 0
b: send 10b to 2
b requires a
}
rank 2 {
recv 10b from 1
}
"""
#: Runs of every kind: on a mesh with contention, on a fat tree so large that the page summarizes it, jobs, an Ethernet, without a network, GOAL.
RUNS = {
    "mesh": ["fft", "--machine", "delta", "--nodes", "64"],
    "tree": ["all-pairs", "--machine", "fat-tree-1024", "--bytes", "256", "--rounds", "1", "--nodes", "256"],
    "dragonfly": ["all-reduce", "--machine", "slingshot-1024", "--bytes", "64KiB", "--algorithm", "recursive-doubling"],
    "jobs": ["jobs.toml"],
    "ethernet": ["broadcast", "--machine", "dp-smp-8", "--bytes", "4KiB"],
    "loggp": ["all-reduce", "--machine", "loggp", "--nodes", "16", "--bytes", "1KiB"],
    "goal": ["goal", "three.goal", "--machine", "moc-2-1"],
}
WIDTHS = (420, 1300)
#: The limit of the size of these pages. [B]
LARGEST = 3_000_000


class Report:
    """The page of a run, and the JSON that the run has printed."""

    def __init__(self, page: chromium.Page, file: Path, printed: dict[str, Any]) -> None:
        self.page, self.file, self.printed = page, file, printed

    def values(self, selector: str) -> list[int]:
        """The values of the figures that match a selector."""
        found = self.page.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(d => d.value)")
        return [int(value) for value in found]


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Page]:
    with chromium.opened() as page:
        yield page


@pytest.fixture(scope="module", params=RUNS)
def report(browser: chromium.Page, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "jobs.toml").write_text(JOBS)
    (folder / "three.goal").write_text(GOAL)
    command = Path(sys.executable).with_name("maquette")
    if not command.exists():
        pytest.skip(f"{command} is not installed")
    arguments: list[str | Path] = [command, "run", *RUNS[str(request.param)], "--report", "run.html", "--json"]
    completed = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
    assert completed.returncode == 0, completed.stderr
    browser.view(WIDTHS[-1])
    browser.events.clear()
    browser.open(folder / "run.html")
    return Report(browser, folder / "run.html", json.loads(completed.stdout))


def test_nothing_is_fetched_and_the_console_has_no_messages(report: Report) -> None:
    assert report.page.problems() == []
    assert report.page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert report.file.stat().st_size < LARGEST


def test_the_figures_are_those_of_the_json(report: Report) -> None:
    printed = report.printed
    assert report.values("[data-name=makespan] data") == [printed["makespan_ps"]]
    assert report.values("[data-name=messages] data") == [printed["messages"]]
    if "packets" in printed:
        assert report.values("[data-name=packets] data") == [printed["packets"]]
        assert report.values('[data-name="mean blocking of a packet"] data') == [printed["mean_blocking_ps"]]


def test_the_parts_of_the_critical_path_are_those_of_the_json_and_sum_to_the_makespan(report: Report) -> None:
    path = report.printed["critical_path"]
    parts = report.values("#critical-path .parts + .wide data")
    names = ["overhead", "latency", "bandwidth", "contention", "computing", "waiting"]
    assert parts == [path[f"{name}_ps"] for name in names]
    assert sum(parts) == report.printed["makespan_ps"]
    steps = path["steps"]
    longest = sorted((step["end_ps"] - step["start_ps"] for step in steps), reverse=True)
    assert report.values("#critical-path h3 + .wide tr td:nth-child(7) data") == longest[:10]


def test_percentiles_are_those_of_the_json(report: Report) -> None:
    times = report.values("#messages tr td:nth-child(2) data")
    if "jobs" not in report.printed:
        times_printed = report.printed["message_times"]
        percents = ["0", "25", "50", "75", "90", "95", "99", "99.9", "100"]
        assert times == [times_printed["mean_ps"], *(times_printed[f"p{percent}_ps"] for percent in percents)]
    assert times


def test_ranks_and_channels_are_those_of_the_json(report: Report) -> None:
    finish = report.values("#all-ranks tr td:nth-child(3) data")
    ranks = [node for job in report.printed.get("jobs", []) for node in job["nodes"]]
    finish_printed = report.printed["finish_ps"]
    assert finish == ([finish_printed[node] for node in ranks] if ranks else finish_printed)
    if "channels" in report.printed:
        channels = {channel["id"]: channel for channel in report.printed["channels"]}
        rows = report.page.evaluate(
            """[...document.querySelectorAll('#network h3 + .wide tbody tr')].map(row =>
                 [+row.children[0].textContent, +row.children[3].querySelector('data').value,
                  +row.children[5].querySelector('data').value])"""
        )
        assert rows and all([channels[row[0]]["busy_ps"], channels[row[0]]["blocked_ps"]] == row[1:] for row in rows)


def test_ranks_messages_and_the_network_are_drawn(report: Report) -> None:
    count = "document.querySelectorAll({}).length"
    assert report.page.evaluate(count.format("'#ranks .plane svg .stretch'")) >= 2
    assert report.page.evaluate(count.format("'#ranks .plane svg .critical'")) in (1, 2)
    assert report.page.evaluate(count.format("'#messages svg.chart .mark'")) >= 3
    if "channels" in report.printed:
        assert report.page.evaluate(count.format("'#network svg.map .channel'")) >= 1
    assert report.page.evaluate("/NaN|Infinity|undefined/.test(document.querySelector('main').innerHTML)") is False


def test_boxes_of_maps_do_not_overlap_and_have_their_names_inside(report: Report) -> None:
    report.page.view(1300)
    report.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    wrong = report.page.evaluate(
        """[...document.querySelectorAll('svg.map')].flatMap(map => {
          const frame = map.getBoundingClientRect();
          const groups = [...map.querySelectorAll('.routers > g')].map(group => ({
            box: group.querySelector('rect.router').getBoundingClientRect(),
            texts: [...group.querySelectorAll('text')].filter(text => text.textContent).map(text => text.getBoundingClientRect()),
          }));
          const outside = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1
            || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
          const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
            && one.top < other.bottom - 1 && other.top < one.bottom - 1;
          return groups.flatMap((group, i) => [
            outside(group.box, frame), group.texts.some(text => outside(text, group.box)),
            groups.slice(i + 1).some(other => meet(group.box, other.box))]).filter(Boolean);
        })"""
    )
    assert wrong == []


def test_it_says_what_bounds_the_run_and_by_how_much(report: Report) -> None:
    why = report.page.evaluate("document.querySelector('#summary .why').innerText")
    assert "this run" in why and "What would help:" in why
    parts = {name: report.printed["critical_path"][f"{name}_ps"] for name in ("overhead", "latency", "bandwidth", "contention")}
    most = max(*parts.values(), report.printed["critical_path"]["computing_ps"], report.printed["critical_path"]["waiting_ps"])
    share = 100 * most / report.printed["makespan_ps"]
    assert f"is {share:.1f} % of the makespan" in why


def test_it_is_accessible_to_screen_readers(report: Report) -> None:
    pictures = report.page.evaluate(
        "[...document.querySelectorAll('[role=img]')].map(picture => picture.getAttribute('aria-label'))"
    )
    assert len(pictures) >= 3 and all(pictures)
    assert report.page.evaluate("[...document.querySelectorAll('th')].every(head => head.scope === 'col')")
    axes = report.page.evaluate("[...document.querySelectorAll('#ranks .of-columns')].map(axis => axis.textContent)")
    assert len(axes) in (1, 3) and all(axis.startswith("time [") for axis in axes)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_the_window(report: Report, width: int, dark: bool, tmp_path: Path) -> None:
    report.page.view(width, dark=dark)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= width
    report.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = report.page.evaluate(
        "[...document.querySelectorAll('.plane span, td')].map(text => parseFloat(getComputedStyle(text).fontSize))"
    )
    assert min(sizes) >= 11
    overlaps = report.page.evaluate(
        """[...document.querySelectorAll('.plane .columns, .plane .rows')].flatMap(axis => {
          const boxes = [...axis.children].map(tick => tick.getBoundingClientRect());
          const across = axis.className === 'columns';
          return boxes.slice(1).filter((box, i) => across ? box.left < boxes[i].right : box.top < boxes[i].bottom - 4);
        })"""
    )
    assert overlaps == []
    background = report.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") != dark
    picture = tmp_path / "run.png"
    report.page.screenshot(picture)
    assert picture.stat().st_size > 20_000
