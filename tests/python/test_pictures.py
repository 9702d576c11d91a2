"""Pictures of a run from Python: its page, its critical path as a table, and its display in notebooks."""

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

import maquette as mq

pl = pytest.importorskip("polars")


async def halo(endpoint: mq.Endpoint, size: int) -> None:
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    await mq.join(endpoint.send(right, size=size), endpoint.receive(left), endpoint.compute("3 us"))


@pytest.mark.parametrize("machine", ["infiniband-128", "loggp", "dp-smp-8", "cm5-32"])
def test_the_parts_of_the_critical_path_sum_to_the_makespan(machine: str) -> None:
    run = mq.run("broadcast", machine, algorithm="binomial", bytes="4 KiB", ranks=8)
    path = pl.DataFrame(run.critical_path)
    parts = path.select("overhead_ps", "latency_ps", "bandwidth_ps", "contention_ps", "computing_ps", "waiting_ps")
    assert parts.sum_horizontal().sum() == run.makespan_ps
    assert path["start_ps"].to_list() == [0, *path["end_ps"].to_list()[:-1]]
    assert path["end_ps"].to_list()[-1] == run.makespan_ps
    assert path.schema["latency_ps"] == pl.Int64


def test_computing_that_hides_messages_is_the_critical_path() -> None:
    run = mq.run(halo, "infiniband-128", ranks=8, size=8)
    path = pl.DataFrame(run.critical_path)
    assert path.filter(cause="compute")["computing_ps"].sum() == 3_000_000


def test_a_report_is_one_page_whether_or_not_the_timeline_was_recorded(tmp_path: Path) -> None:
    afterwards, recorded = tmp_path / "afterwards.html", tmp_path / "recorded.html"
    mq.run(halo, "infiniband-128", ranks=8, size=5000).report(afterwards)
    mq.run(halo, "infiniband-128", ranks=8, size=5000, record="timeline").report(recorded)
    assert afterwards.read_text() == recorded.read_text()
    assert afterwards.read_text().startswith("<!doctype html>")
    assert "https://" not in afterwards.read_text()


def test_a_report_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    run = mq.run("broadcast", "loggp", bytes=8, ranks=4)
    with pytest.raises(ValueError, match="html"):
        run.report(tmp_path / "run.txt")
    with pytest.raises(OSError, match="nowhere"):
        run.report(tmp_path / "nowhere" / "run.html")


def test_a_figure_is_shown_and_saved_as_svg_and_png(tmp_path: Path) -> None:
    run = mq.run(halo, "infiniband-128", ranks=8, size=5000)
    figures = {name: run.figure(name) for name in ("map", "timeline", "path")}
    titles = [ElementTree.fromstring(figure.svg).findtext("{http://www.w3.org/2000/svg}title") for figure in figures.values()]
    assert titles == ["halo on infiniband-128"] * 3
    assert len({figure.svg for figure in figures.values()}) == 3
    assert run.figure().svg == figures["timeline"].svg, "the rank computes most of the time"
    assert figures["map"]._repr_svg_() == figures["map"].svg
    figures["map"].savefig(tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text() == figures["map"].svg
    for name in ("one.png", "other.png"):
        figures["timeline"].savefig(tmp_path / name)
    picture = (tmp_path / "one.png").read_bytes()
    assert picture == (tmp_path / "other.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", picture[16:24]) == (2560, 1440)


def test_a_figure_that_is_not_there_or_cannot_be_written_says_why(tmp_path: Path) -> None:
    run = mq.run("broadcast", "loggp", bytes=8, ranks=4)
    with pytest.raises(ValueError, match="map if the machine has a network"):
        run.figure("map")
    with pytest.raises(ValueError, match="`pathh`.*did you mean `path`"):
        run.figure("pathh")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        run.figure().savefig(tmp_path / "run.jpg")
    with pytest.raises(OSError, match="nowhere"):
        run.figure().savefig(tmp_path / "nowhere" / "run.png")


def test_machines_runs_plans_schedules_and_sweeps_display_themselves() -> None:
    machine = mq.Machine("moc-2-1")
    fields = {"machine": {"name": "loggp"}, "job": [{"ranks": 4, "program": {"broadcast": {"bytes": 8}}}]}
    shown = {
        "moc-2-1": machine._repr_html_(),
        "broadcast on moc-2-1": mq.run("broadcast", machine, bytes=8)._repr_html_(),
        "Plan of": mq.plan("broadcast", "loggp", ranks=4)._repr_html_(),
        "Schedule: ": mq.schedule(complete=4, algorithm="linear")._repr_html_(),
        "Sweep": mq.sweep(fields, over={"bytes": [8, 16]})._repr_html_(),
    }
    for title, html in shown.items():
        assert html.startswith("<iframe ") and html.count("<iframe") == 1, title
        assert re.search(f"&lt;title&gt;{title}", html), title
        assert "&lt;svg" in html or "level-bar" in html, title
        assert "<script" not in html, title
