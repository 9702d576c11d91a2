"""A program that forgets to end its recursion gets Python's RecursionError, however it recurs and however small the stack of its thread is."""

import subprocess
import sys

import pytest

#: Coroutines that await one another without end, each by its name.
ENDLESS = {
    "join": "async def walk(n): await mq.join(walk(n + 1))",
    "first": "async def walk(n): await mq.first(e.receive(1), walk(n + 1))",
    "both": "async def walk(n): await (mq.join if n % 2 else mq.first)(e.compute('1 us'), walk(n + 1))",
    "await": "async def walk(n): await walk(n + 1)",
}

#: The stack of the program's thread, as the system has it or of so many bytes.
STACKS = {"usual": 0, "1 MiB": 1 << 20, "256 KiB": 256 << 10}

PROGRAM = """
import threading
import maquette as mq

async def main(e):
    if e.rank == 0:
        {endless}
        await walk(0)

def run():
    try:
        mq.run(main, "infiniband-128", ranks=2)
    except RecursionError as error:
        print(str(error).split(":")[0], flush=True)

threading.stack_size({stack})
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""

#: As deep as is allowed, with an operation at the end; then the run stops there, so that everything is closed.
DEEP = """
import threading
import maquette as mq

closed = []

async def main(e):
    async def walk(n):
        try:
            if n == 0:
                return await e.receive(1)
            return await mq.join(walk(n - 1), e.receive(1))
        finally:
            closed.append(n)
    await walk(900)

def run():
    try:
        mq.run(main, "infiniband-128", ranks=1)
    except mq.NoSuchRank as error:
        print(type(error).__name__, closed == list(range(901)), flush=True)

threading.stack_size(256 << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""

STUCK = DEEP.replace("ranks=1", "ranks=2").replace("mq.NoSuchRank", "mq.Deadlock").replace(
    "await walk(900)", "await (walk(900) if e.rank == 0 else e.receive(0))"
)


def output(program: str) -> str:
    command = [sys.executable, "-c", program]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (completed.returncode, completed.stderr) == (0, ""), completed.stderr
    return completed.stdout


@pytest.mark.parametrize("stack", STACKS.values(), ids=STACKS.keys())
@pytest.mark.parametrize("how", ENDLESS)
def test_endless_recursion_is_an_exception(how: str, stack: int) -> None:
    if how == "await" and stack == STACKS["256 KiB"]:
        pytest.skip("Python itself has no room there for as many calls as it allows")
    endless = ENDLESS[how]
    assert output(PROGRAM.format(endless=endless, stack=stack)) == "maximum recursion depth exceeded\n"


@pytest.mark.parametrize(("program", "error"), [(DEEP, "NoSuchRank"), (STUCK, "Deadlock")], ids=["fails", "is stuck"])
def test_a_deep_program_that_ends_closes_its_coroutines_from_the_deepest_on(program: str, error: str) -> None:
    assert output(program) == f"{error} True\n"
