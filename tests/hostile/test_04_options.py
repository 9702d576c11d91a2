"""Options that would have no effect are refused before anything starts."""

from pathlib import Path

import pytest
from command import maquette, refusal

# Tests next to the code of the command line have more of them; these are the ones once reported, and one of each kind.
WITHOUT_EFFECT = [
    ("launch --local 2 ping-pong --timeline f.json", "--timeline"),
    ("launch --local 2 ping-pong --packets f.csv", "--packets"),
    ("launch --local 2 ping-pong --set buffers=4", "--set"),
    ("launch --local 2 ping-pong --seed 3", "--seed"),
    ("launch --local 2 ping-pong --machine torus-512", "--machine"),
    ("launch --local 2 ping-pong --nodes 2", "--nodes"),
    ("launch --local 2 ping-pong --engine reference", "--engine"),
    ("launch --local 2 all-to-all --lambda 2", "--lambda"),
    ("launch --local 2 broadcast --algorithm binomial --t0 1us", "--t0"),
    ("run ping-pong --machine loggp --nodes 2 --engine reference", "--engine"),
    ("run all-pairs --machine mpich-tcp-8 --engine fast", "--engine"),
    ("run broadcast --machine delta --algorithm binomial --lambda 2", "--lambda"),
    ("run all-reduce --machine delta --algorithm ring --t0 1us", "--t0"),
    ("run broadcast --machine cm5-32 --algorithm hardware --order permuted", "--order"),
    ("run traffic --machine moc-2-1 --rate 0.1 --hot-node 3", "--hot-node"),
    ("schedule --complete 4 --algorithm greedy --pacing barrier", "--pacing"),
    ("schedule --complete 4 --algorithm greedy --seed 2", "--seed"),
    ("run all-to-all --machine moc-2-1 --t0 2us", "--t0"),
    ("pattern conjugate-gradient --seed 2", "--seed"),
]


@pytest.mark.parametrize(("command", "option"), WITHOUT_EFFECT)
def test_an_option_without_effect_is_refused(command: str, option: str, tmp_path: Path) -> None:
    """Exit status 2, one error that names the option, and nothing is left behind."""
    assert option in refusal(*command.split(), cwd=tmp_path).splitlines()[0]
    assert list(tmp_path.iterdir()) == []


def test_launch_accepts_a_seed_that_has_an_effect() -> None:
    """A launch accepts a seed if the program draws random numbers from it."""
    completed = maquette("launch", "--local", "2", "all-pairs", "--order", "shuffled", "--rounds", "1", "--seed", "3")
    assert completed.returncode == 0, completed.stderr
    assert "seed 3; maquette " in completed.stdout


def test_a_size_is_refused_if_the_matrix_has_sizes(tmp_path: Path) -> None:
    """--bytes applies to a matrix that says only which ranks send to which."""
    sized, unsized = tmp_path / "a.csv", tmp_path / "b.mtx"
    sized.write_text("0,1\n1,0\n")
    unsized.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    for command in (["run", "all-to-all", "--machine", "loggp"], ["plan", "all-to-all", "--machine", "loggp"], ["schedule"]):
        assert "--bytes" in refusal(*command, "--traffic", sized, "--bytes", "64")
        completed = maquette(*command, "--traffic", unsized, "--bytes", "64")
        assert completed.returncode == 0, completed.stderr
