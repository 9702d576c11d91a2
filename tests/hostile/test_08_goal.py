"""The documentation says where GOAL under LogGP differs from LogGOPSim, and is right."""

from pathlib import Path

from command import answer, maquette

ROOT = Path(__file__).parents[2]


def test_the_differences_are_documented() -> None:
    """The guide, the page on GOAL and the help name the unstable sort, the processors of one rank, and S."""
    texts = [(ROOT / name).read_text() for name in ("docs/guide/traces.md", "docs/GOAL.md")]
    texts.append(maquette("run", "goal", "--help").stdout)
    for text in texts:
        plain = " ".join(text.split()).lower()
        for part in ("loggopsim", "processors of one rank", "the smallest", "the largest that does not"):
            assert part in plain.replace("*", ""), part


def test_s_is_the_smallest_message_that_waits(tmp_path: Path) -> None:
    """A message of S bytes waits for its receiver, one with a byte less does not."""
    ends = []
    for size in (99, 100):
        file = tmp_path / f"{size}.goal"
        file.write_text(
            f"num_ranks 2\nrank 0 {{\n s: send {size}b to 1 tag 0\n c: calc 0\n c requires s\n}}\n"
            f"rank 1 {{\n c: calc 9000000\n r: recv {size}b from 0 tag 0\n r requires c\n}}\n"
        )
        ends.append(answer("run", "goal", file, "--set", "S=100")["finish_ps"][0])
    assert ends[0] < 1_000_000_000 <= 9_000_000_000 <= ends[1]
