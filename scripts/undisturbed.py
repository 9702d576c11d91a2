"""How many messages of a run have their channels to themselves, and how many packets wait on their way.

Reads a packet log, as in

    maquette run all-to-all --machine cm5-256 --bytes 1KiB --packets packets.arrow
    python scripts/undisturbed.py packets.arrow

and prints, for each number of channels on the way: the messages; how many different ways the packets of one take on average; the share of the
packets that are blocked; the share of the messages of which none is; and the share of those that are alone: no channel of theirs is granted
to another message between their first packet and their last. Takes each pair of nodes as one message, and looks at packets with data only.
"""

import sys
from pathlib import Path

import polars as pl


def shares(log: Path) -> pl.DataFrame:
    """A row for each number of channels."""
    columns = ["source", "destination", "channels", "granted_ps", "blocking_ps"]
    packets = pl.scan_ipc(log).filter(pl.col("bytes") > 0).select(columns).collect()
    packets = packets.with_columns(
        message=pl.col("source").cast(pl.UInt64) * (1 << 32) + pl.col("destination"),
        hops=pl.col("channels").list.len(),
        way=pl.col("channels").hash(),
    )
    messages = packets.group_by("message").agg(
        pl.col("hops").first(),
        ways=pl.col("way").n_unique(),
        blocked=(pl.col("blocking_ps") > 0).mean(),
        unblocked=(pl.col("blocking_ps") == 0).all(),
    )
    grants = packets.select("message", "channels", "granted_ps").explode("channels", "granted_ps").sort("channels", "granted_ps")
    is_another = (pl.col("message") != pl.col("message").shift(1)) | (pl.col("channels") != pl.col("channels").shift(1))
    in_turn = grants.with_columns(begins=is_another.fill_null(True)).group_by("channels", "message").agg(pl.col("begins").sum())
    alone = in_turn.group_by("message").agg(alone=(pl.col("begins") == 1).all())
    return (
        messages.join(alone, on="message")
        .group_by("hops")
        .agg(pl.len().alias("messages"), pl.col("ways", "blocked", "unblocked", "alone").mean())
        .sort("hops")
    )


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/undisturbed.py packets.arrow")
    with pl.Config(tbl_formatting="ASCII_MARKDOWN", tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        print(shares(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
