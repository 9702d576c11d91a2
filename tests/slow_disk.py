"""A slow disk for tests: while a file exists, each sync takes as long as the test says. A preloaded library does that to the processes of a test."""

import shutil
import subprocess
from pathlib import Path

import pytest

#: Waits for as many hundredths of a second as `SLOW_DISK_LONGEST` says, or until the file `SLOW_DISK` is gone.
SOURCE = """
#include <stdlib.h>
#include <unistd.h>
int fdatasync(int file) {
    (void) file;
    for (int left = atoi(getenv("SLOW_DISK_LONGEST")); left > 0 && access(getenv("SLOW_DISK"), F_OK) == 0; --left) usleep(10000);
    return 0;
}
"""


def slow_disk(monkeypatch: pytest.MonkeyPatch, directory: Path, longest: float) -> Path:
    """Let each sync of the processes that are started from now on take so long while a file exists. Returns the file, which does not exist yet.

    longest: In seconds.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    library, file = directory / "slow_disk.so", directory / "disk_is_slow"
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SOURCE, text=True, check=True)
    for name, value in [("LD_PRELOAD", library), ("SLOW_DISK", file), ("SLOW_DISK_LONGEST", int(100 * longest))]:
        monkeypatch.setenv(name, str(value))
    return file
