"""Tables of a run, as polars, pyarrow, pandas and DuckDB read them."""

import pytest

import maquette as mq

pl = pytest.importorskip("polars")

RECORD = ["packets", "timeline"]


async def halo(endpoint: mq.Endpoint, size: int) -> None:
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    await mq.join(endpoint.send(right, size=size), endpoint.receive(left), endpoint.compute("3 us"))


def test_counts_are_those_of_the_run() -> None:
    run = mq.run(halo, "infiniband-128", ranks=8, placement="random", seed=3, size=5000, record=RECORD)
    result = run.to_dict()
    ranks = pl.DataFrame(run.ranks)
    assert ranks["finish_ps"].to_list() == run.finish_ps
    assert ranks["node"].to_list() == run.nodes
    assert ranks["rank"].to_list() == list(range(8))
    assert ranks.schema["finish_ps"] == pl.Int64
    assert ranks["send_away_ps"].to_list() == [rank["send_away_ps"] for rank in result["ranks"]]
    assert result["node_of_rank"] == run.nodes
    assert pl.DataFrame(run.channels).rows(named=True) == result["channels"]
    assert pl.DataFrame(run.routers).rows(named=True) == result["routers"]


def test_packets_and_messages_are_those_that_were_sent() -> None:
    run = mq.run(halo, "infiniband-128", ranks=8, placement="random", seed=3, size=5000, record=RECORD)
    packets, messages = pl.DataFrame(run.packets), pl.DataFrame(run.messages)
    assert len(packets) == len(run.packets) == run.to_dict()["packets"]
    assert packets["delivered_ps"].max() <= run.makespan_ps
    assert packets.schema["granted_ps"] == pl.List(pl.Int64)
    assert packets["channels"].list.len().sum() == sum(channel["packets"] for channel in run.to_dict()["channels"])
    assert sorted(messages.select("source", "destination").rows()) == [(rank, (rank + 1) % 8) for rank in range(8)]
    assert messages["bytes"].to_list() == [5000] * 8
    assert (messages["received_ps"] > messages["sent_ps"]).all()
    timeline = pl.DataFrame(run.timeline)
    assert sorted(timeline["activity"].unique()) == ["compute", "receive", "send"]
    assert len(timeline) == 3 * 8
    computing = timeline.filter(pl.col("activity") == "compute")
    assert sorted(computing["rank"]) == list(range(8))


def test_several_jobs_have_ranks_of_their_own() -> None:
    job = {"ranks": 4, "program": {"broadcast": {"algorithm": "binomial", "bytes": 64}}}
    fields = {"machine": {"name": "moc-2-1"}, "job": [{"name": "one", **job}, {"name": "two", "start": "3 us", **job}]}
    run = mq.run_experiment(fields, record="timeline")
    ranks = pl.DataFrame(run.ranks)
    assert ranks.select("job", "name", "rank").rows() == [(k, name, r) for k, name in [(0, "one"), (1, "two")] for r in range(4)]
    assert ranks["node"].to_list() == run.nodes
    messages = pl.DataFrame(run.messages)
    assert [len(messages.filter(job=number)) for number in (0, 1)] == [3, 3]
    assert messages["source"].max() < 4 and messages["destination"].max() < 4
    assert messages.filter(job=1)["sent_ps"].min() >= 3_000_000


def test_a_table_may_have_more_rows_than_a_batch() -> None:
    async def chatter(endpoint: mq.Endpoint, rounds: int) -> None:
        for _ in range(rounds):
            await endpoint.send(1 - endpoint.rank, size=8)
            await endpoint.receive(1 - endpoint.rank)

    run = mq.run(chatter, "loggp", ranks=2, rounds=40_000, record=["timeline"])
    messages = pl.DataFrame(run.messages)
    assert len(messages) == run.message_count == 80_000
    assert messages["received_ps"].max() == run.makespan_ps


def test_an_ethernet_has_frames() -> None:
    run = mq.run("ping-pong", "dp-smp-8", record=["packets"])
    frames = pl.DataFrame(run.frames)
    assert len(frames) == run.to_dict()["frames"]["received"] > 0
    assert set(frames["fate"]) == {"received"}
    with pytest.raises(ValueError, match="channels: found none, on dp-smp-8; allowed is a machine with a network of routers"):
        run.channels  # noqa: B018


def test_lists_and_pyarrow_have_the_same_values() -> None:
    run = mq.run("broadcast", "moc-2-1", algorithm="linear", record=["packets"])
    assert run.ranks.to_dict()["finish_ps"] == run.finish_ps
    assert run.packets.to_dict()["channels"][0] == pl.DataFrame(run.packets)["channels"][0].to_list()
    assert run.ranks.columns[:3] == ["job", "name", "rank"] and len(run.ranks) == 16
    assert repr(run.routers) == f"<maquette.Table routers: {len(run.to_dict()['routers'])} rows of id, name, headers, blocking_ps>"
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(run.ranks)
    table.validate(full=True)
    assert table["finish_ps"].to_pylist() == run.finish_ps
    packets = arrow.table(run.packets)
    packets.validate(full=True)
    assert b'"command":"run broadcast"' in packets.schema.metadata[b"experiment"]
    assert packets.num_rows == len(run.packets)


@pytest.mark.parametrize("record", [[], ["packets"], ["timeline"]])
def test_records_that_are_missing_are_made_when_they_are_read(record: list[str]) -> None:
    recorded = mq.run("broadcast", "moc-2-1", bytes=5000, record=RECORD)
    later = mq.run("broadcast", "moc-2-1", bytes=5000, record=record)
    for name in ["packets", "messages", "timeline"]:
        assert getattr(later, name).to_dict() == getattr(recorded, name).to_dict()
    assert len(mq.run(halo, "moc-2-1", size=100).messages) == 16


def test_a_program_that_does_something_else_the_second_time_is_refused() -> None:
    sizes = iter(range(1000, 100_000, 1000))

    async def program(endpoint: mq.Endpoint) -> None:
        await halo(endpoint, next(sizes))

    run = mq.run(program, "moc-2-1")
    with pytest.raises(mq.MaquetteError, match=r"messages: the program has done something else .* record=\['timeline'\]"):
        run.messages  # noqa: B018


def test_records_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="record: found 'packet'; allowed are 'packets' and 'timeline'"):
        mq.run("ping-pong", "moc-2-1", record=["packet"])
    with pytest.raises(ValueError, match="packets: found none, on loggp; allowed is a machine with a network of routers"):
        mq.run("ping-pong", "loggp", ranks=2).packets  # noqa: B018


def test_pandas_reads_tables() -> None:
    pandas = pytest.importorskip("pandas")
    run = mq.run("broadcast", "moc-2-1", bytes=5000, record=["packets"])
    ranks, packets = pandas.DataFrame.from_arrow(run.ranks), pandas.DataFrame.from_arrow(run.packets)
    assert ranks["finish_ps"].tolist() == run.finish_ps and ranks["finish_ps"].dtype == "int64"
    assert [list(route) for route in packets["channels"]] == run.packets.to_dict()["channels"]


def test_duckdb_reads_tables() -> None:
    duckdb = pytest.importorskip("duckdb")
    run = mq.run("broadcast", "moc-2-1", bytes=5000, record=["packets"])
    with duckdb.connect() as connection:
        connection.register("ranks", run.ranks)
        connection.register("packets", run.packets)
        assert connection.sql("select finish_ps from ranks order by rank").fetchall() == [(time,) for time in run.finish_ps]
        ((carried,),) = connection.sql("select sum(len(channels)) from packets").fetchall()
    assert carried == sum(channel["packets"] for channel in run.to_dict()["channels"])


def test_a_missing_value_is_none() -> None:
    experiment = {"machine": {"name": "moc-2-1"}, "job": [{"program": {"equal-dist": {}}}]}
    table = mq.sweep(experiment, {"messages": [10], "ranks": [8, 32]}).table
    assert table.columns == ["given_messages", "ranks", "makespan_ps", "messages", "packets", "mean_blocking_ps", "error"]
    assert [time is None for time in table.to_dict()["makespan_ps"]] == [False, True]
    assert pl.DataFrame(table).to_dict(as_series=False) == table.to_dict()
