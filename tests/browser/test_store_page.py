"""The live page of a pool of stores, in a browser: it shows the state of the pool while it grows and when a member dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import chromium
from pools import CAPACITY, LIMIT, Member, pool_of


@pytest.fixture
def pool() -> Iterator[list[Member]]:
    """A pool of three members that serve pages."""
    with pool_of(3, "--http", "0") as members:
        yield members


@pytest.fixture
def page() -> Iterator[chromium.Page]:
    with chromium.opened() as page:
        yield page


def page_of(member: Member) -> str:
    """The address of a member's page."""
    return f"http://{member.startup['http'][0]}/"


def text(page: chromium.Page, name: str) -> str:
    return str(page.evaluate(f"document.getElementById({json.dumps(name)}).textContent"))


def parts(page: chromium.Page) -> list[str]:
    """The numbers of the servers in the map of slots."""
    found: list[str] = page.evaluate("[...document.querySelectorAll('#map .part')].map(part => part.textContent)")
    return found


def test_the_page_shows_a_pool_that_grows_and_loses_a_member(pool: list[Member], page: chromium.Page) -> None:
    page.view(1300)
    page.open_served(page_of(pool[1]))
    page.wait_until("document.getElementById('total-members').textContent === '3'")
    page.wait_until("document.querySelectorAll('#member-rows tr').length === 3")
    page.wait_until("document.getElementById('status').textContent === 'All slots are served.'")
    assert parts(page) == ["0"] and text(page, "total-servers") == "1"
    with pool[2].client() as client:
        client.mset({f"key:{number}": number for number in range(3 * CAPACITY)})
    page.wait_until("document.getElementById('total-servers').textContent === '3'")
    page.wait_until("document.getElementById('total-records').textContent === '1,200'")
    page.wait_until("document.getElementById('map').dataset.covered === '16384'")
    # In the order of slots. Of three servers, the two of level 2 have a quarter each.
    assert parts(page) == ["0", "2", "1"] and text(page, "total-splits") == "2"
    widths = page.evaluate("[...document.querySelectorAll('#map .part')].map(part => Math.round(part.offsetWidth * 16 / part.parentNode.offsetWidth))")
    assert widths == [4, 4, 8]
    assert page.evaluate("document.querySelectorAll('#server-rows tr').length") == 3
    assert text(page, "token").startswith("server ")
    assert page.problems(page_of(pool[1])) == []
    pool[2].process.kill()
    page.wait_until("document.getElementById('status').textContent.startsWith('Silent: ')")
    assert page.evaluate("document.getElementById('status').classList.contains('lost')")


def test_the_page_shows_groups_and_a_member_that_is_rebuilt(tmp_path: Path, page: chromium.Page) -> None:
    options = ["--http", "0", "--parity", "1", "--parity-patience", "0.5"]
    members = [Member(*options, "--data", str(tmp_path / "0"))]
    try:
        for number, role in enumerate([[], ["--role", "parity"], ["--role", "spare"]], 1):
            members.append(Member("--join", members[0].members, *options, "--data", str(tmp_path / str(number)), *role))
        page.view(1300)
        page.open_served(page_of(members[0]))
        page.wait_until("!document.getElementById('groups').hidden")
        cells = "[...document.querySelectorAll('#group-rows td')].map(cell => cell.textContent)"
        page.wait_until(f"{cells}[3] === '1 of 1, whole' && {cells}[4] === '1'")
        leads = page.evaluate(f"{cells}[1]")
        states = page.evaluate("[...document.querySelectorAll('#member-rows tr')].map(row => row.lastChild.textContent)")
        assert sum("parity, leader" in state for state in states) == 1 and "spare" in states
        members[1].process.kill()
        # The spare has become the lost member: no spare is left, and the group is whole again.
        page.wait_until(f"{cells}[4] === '0' && {cells}[3] === '1 of 1, whole' && {cells}[5] === '-'")
        assert page.evaluate(f"{cells}[1]") == leads
        assert page.problems(page_of(members[0])) == []
    finally:
        for member in members:
            member.process.terminate()
        for member in members:
            member.process.communicate(timeout=LIMIT)


def test_the_page_fits_every_width_in_light_and_dark_and_is_accessible(pool: list[Member], page: chromium.Page) -> None:
    colours = set()
    for width in (420, 1300):
        for dark in (False, True):
            page.view(width, dark=dark)
            page.open_served(page_of(pool[0]))
            page.wait_until("document.getElementById('status').textContent === 'All slots are served.'")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
    labels = "[...document.querySelectorAll('[role=img]')].every(picture => picture.getAttribute('aria-label'))"
    assert page.evaluate(labels)
    assert page.evaluate("[...document.querySelectorAll('table')].every(table => table.caption && table.querySelector('th[scope=col]'))")
    assert page.evaluate("document.documentElement.lang") == "en"
