"""The report of a reproduction, from the fixture `report_of_studies`, in a browser without network.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import chromium
from reproduction import STUDIES

#: How many claims each study judges; every study that the report has is checked.
CLAIMS = {"moc": 17, "postal": 13, "cm5": 10, "lh": 13}
FIGURES = range(5, 15)
#: Quantities without a unit, on vertical axes.
COUNTS = {"lambda", "nodes", "servers", "entries of the table"}
#: Two phones and a desktop.
WIDTHS = (400, 420, 1280)
#: The least space above a heading that separates it from what precedes it. [px]
ABOVE_A_HEADING = 24


@pytest.fixture(scope="session")
def page(report_of_studies: Path) -> Iterator[chromium.Page]:
    with chromium.opened() as page:
        page.view(WIDTHS[-1])
        page.open(report_of_studies)
        yield page


def test_nothing_is_fetched_and_the_console_has_no_messages(page: chromium.Page) -> None:
    assert page.problems() == []
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.fixture(scope="session")
def studies(page: chromium.Page) -> list[str]:
    """The studies in the report."""
    found = [study for study in CLAIMS if page.evaluate(f"document.getElementById('{study}') !== null")]
    assert set(STUDIES) <= set(found)
    return found


def test_every_chart_has_axes_with_units_and_ticks(page: chromium.Page, studies: list[str]) -> None:
    for study in studies:
        charts = f"[...document.querySelectorAll('[id^={study}-] svg.chart')]"
        assert page.evaluate(f"{charts}.length") >= 6
        names = page.evaluate(f"{charts}.map(c => [...c.querySelectorAll('.axis .name')].map(n => n.textContent))")
        assert all(len(axes) == 2 and all(axes) for axes in names), names
        # The horizontal axis may have no unit either: buffers, nodes, routers.
        assert all("[" in axes[0] or axes[0] in COUNTS for axes in names), names
        ticks = page.evaluate(f"{charts}.map(c => [...c.querySelectorAll('.axis .tick')].map(t => t.textContent))")
        assert all(len(texts) >= 5 and all(texts) for texts in ticks), ticks
        marks = page.evaluate(f"{charts}.map(c => c.querySelectorAll('.mark, .bar').length)")
        assert all(count >= 6 for count in marks), marks


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_of_the_network_study_is_drawn_and_has_its_number(page: chromium.Page, figure: int) -> None:
    assert page.evaluate(f"document.querySelectorAll('#moc-figure-{figure} svg.chart').length") >= 1
    caption = page.evaluate(f"document.querySelector('#moc-figure-{figure} figcaption').textContent")
    assert caption.startswith(f"Figure {figure}. ")


def test_no_drawn_number_is_nan_infinite_or_undefined(page: chromium.Page) -> None:
    drawn = "document.querySelector('main').innerHTML"
    assert page.evaluate(f"/NaN|Infinity|undefined/.test({drawn})") is False


def test_the_map_has_routers_channels_nodes_and_a_scale(page: chromium.Page) -> None:
    count = "document.querySelectorAll('#moc-map svg.map:first-of-type {}').length"
    assert page.evaluate(count.format(".router")) >= 16
    assert page.evaluate(count.format(".channel")) >= 48
    assert page.evaluate(count.format(".node")) >= 64
    assert page.evaluate("document.querySelectorAll('#moc-map .heat li').length") >= 8


def test_every_claim_is_in_the_table_and_linked_to_its_section(page: chromium.Page, studies: list[str]) -> None:
    for study in studies:
        links = f"[...document.querySelectorAll('#{study}-verdicts td a')]"
        targets = page.evaluate(f"{links}.map(a => a.getAttribute('href').slice(1))")
        assert len(targets) == CLAIMS[study]
        assert all(page.evaluate(f"document.getElementById('{target}') !== null") for target in targets)
        verdicts = page.evaluate(
            f"[...document.querySelectorAll('#{study}-verdicts td .verdict')].map(v => v.textContent)"
        )
        assert len(verdicts) == CLAIMS[study]
        assert set(verdicts) <= {"met", "met, fitted", "missed"}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_the_window_and_can_be_read(page: chromium.Page, width: int, dark: bool, tmp_path: Path) -> None:
    page.view(width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The height of a label is that of its font, times the scale of the drawing.
    heights = page.evaluate(
        "[...document.querySelectorAll('svg.chart text')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 10, "a label is too small to be read"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") != dark
    picture = tmp_path / "report.png"
    page.screenshot(picture)
    assert picture.stat().st_size > 50_000


def test_labels_of_a_chart_do_not_overlap(page: chromium.Page) -> None:
    for width in WIDTHS:
        page.view(width)
        overlaps = page.evaluate(
            """[...document.querySelectorAll('svg.chart')].flatMap(chart => {
              const boxes = [...chart.querySelectorAll('.axis.x .tick')].map(t => t.getBoundingClientRect());
              return boxes.slice(1).filter((box, i) => box.left < boxes[i].right).map(() => chart.ariaLabel);
            })"""
        )
        assert overlaps == []


def test_headings_have_space_above_them(page: chromium.Page) -> None:
    for width in WIDTHS:
        page.view(width)
        gaps = page.evaluate(
            """[...document.querySelectorAll('main h1, main h2')].map(heading => {
              let block = heading;
              while (!block.previousElementSibling && block.parentElement !== document.body) block = block.parentElement;
              const above = block.previousElementSibling.getBoundingClientRect().bottom;
              return [heading.textContent, heading.getBoundingClientRect().top - above];
            })"""
        )
        # A page of several papers has a heading for each.
        assert len(gaps) > 10 and any("reproduced" in heading for heading, _ in gaps)
        assert [gap for gap in gaps if gap[1] < ABOVE_A_HEADING] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_every_column_of_the_verdicts_is_in_the_window(page: chromium.Page, studies: list[str], width: int) -> None:
    page.view(width)
    for study in studies:
        cells = page.evaluate(
            f"""[...document.querySelectorAll('#{study}-verdicts tbody td')].map(cell => {{
              const box = cell.getBoundingClientRect();
              const name = getComputedStyle(cell, '::before').content;
              return {{ text: cell.textContent, left: box.left, right: box.right, name: name }};
            }})"""
        )
        assert len(cells) == 7 * CLAIMS[study]
        assert [cell for cell in cells if cell["left"] < 0 or cell["right"] > width] == []
        named = page.evaluate(f"getComputedStyle(document.querySelector('#{study}-verdicts thead')).display") != "none"
        # Without a header row, each cell has the name of its column.
        assert all(named or cell["name"] not in ("none", '""') for cell in cells if cell["text"])


def test_a_table_that_is_too_wide_shows_that_it_scrolls(page: chromium.Page) -> None:
    page.view(420)
    wide = page.evaluate(
        """[...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth).map(box => {
          const style = getComputedStyle(box);
          return [style.overflowX, style.scrollbarWidth, style.backgroundAttachment];
        })"""
    )
    assert wide
    # The shadows at both edges are fixed, and what covers them at an end scrolls with the table.
    assert all(box == ["auto", "thin", "local, local, scroll, scroll"] for box in wide)
