"""Links in what `maquette cast` sends: they arrive as links, and nothing is written through one."""

import os
from pathlib import Path

import pytest
from casting import Site, wait_for


def transfer(site: Site, *options: str) -> tuple[int, str]:
    """The exit status and the errors of a receiver of the folder `tree`."""
    receiver = site.receive("--into", "into", "--wait", "5", *options)
    wait_for(site.send("tree", "--receivers", "1", "--wait", "5"))
    status, _, error = wait_for(receiver)
    return status, error


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "tree" / "in").mkdir(parents=True)
    (tmp_path / "tree" / "file").write_text("content")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("untouched")
    return Site(tmp_path)


def test_links_within_a_folder_arrive_as_links(site: Site) -> None:
    """To a file, to a folder, and to nothing: each is the same link at the receiver, and a second cast replaces it."""
    links = {"in/to-file": "../file", "to-folder": "in", "to-nothing": "gone"}
    for name, target in links.items():
        (site.folder / "tree" / name).symlink_to(target)
    for options in [(), ("--overwrite",)]:
        assert transfer(site, *options)[0] == 0
        into = site.folder / "into" / "tree"
        assert {name: os.readlink(into / name) for name in links} == links
        assert (into / "in" / "to-file").read_text() == "content"


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside/file", "in/../../outside/file", ".."])
def test_a_link_that_leads_out_is_not_sent(site: Site, target: str) -> None:
    """The error names it and says why; with --skip-unsendable the others are sent."""
    (site.folder / "tree" / "link").symlink_to(target)
    status, out, error = wait_for(site.send("tree", "--wait", "1"))
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert f"the link `tree/link` to `{target}` is refused: " in error and "--skip-unsendable" in error
    receiver = site.receive("--into", "into", "--wait", "5")
    assert wait_for(site.send("tree", "--receivers", "1", "--skip-unsendable"))[0] == 0
    assert wait_for(receiver)[0] == 0
    assert sorted(path.name for path in (site.folder / "into" / "tree").iterdir()) == ["file", "in"]


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_nothing_is_written_through_a_link_in_place_of_a_folder(site: Site, options: tuple[str, ...]) -> None:
    """A receiver whose folder has a link where the cast has a folder refuses it, whatever it may replace."""
    (site.folder / "into").mkdir()
    (site.folder / "into" / "tree").symlink_to(site.folder / "outside")
    status, error = transfer(site, *options)
    assert status == 1 and "it is a link, and links are not followed" in error
    assert [path.name for path in (site.folder / "outside").iterdir()] == ["file"]
    assert (site.folder / "outside" / "file").read_text() == "untouched"


def test_nothing_is_written_through_a_link_that_an_earlier_cast_brought(site: Site) -> None:
    """First a link arrives, then a folder of its name with a file."""
    link = site.folder / "tree" / "link"
    link.symlink_to("in")
    assert transfer(site)[0] == 0
    link.unlink()
    link.mkdir()
    (link / "new").write_text("new")
    status, error = transfer(site, "--overwrite")
    assert status == 1 and "it is a link, and links are not followed" in error
    assert list((site.folder / "into" / "tree" / "in").iterdir()) == []


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(site: Site) -> None:
    """With --overwrite the file takes the place of the link; what the link led to is unchanged."""
    (site.folder / "into" / "tree").mkdir(parents=True)
    (site.folder / "into" / "tree" / "file").symlink_to(site.folder / "outside" / "file")
    assert transfer(site)[0] == 1
    assert transfer(site, "--overwrite")[0] == 0
    assert not (site.folder / "into" / "tree" / "file").is_symlink()
    assert (site.folder / "into" / "tree" / "file").read_text() == "content"
    assert (site.folder / "outside" / "file").read_text() == "untouched"
