"""Systems in trouble for tests: libraries, preloaded into the processes of a test, in which the disk is slow or threads are refused."""

import shutil
import subprocess
from pathlib import Path

import pytest

#: Waits at each sync for as many hundredths of a second as `SLOW_DISK_LONGEST` says, or until the file `SLOW_DISK` is gone.
SLOW_DISK = """
#include <stdlib.h>
#include <unistd.h>
int fdatasync(int file) {
    (void) file;
    for (int left = atoi(getenv("SLOW_DISK_LONGEST")); left > 0 && access(getenv("SLOW_DISK"), F_OK) == 0; --left) usleep(10000);
    return 0;
}
"""
#: Refuses threads after as many as `THREADS` says.
FEW_THREADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument) {
    static atomic_int started;
    if (atomic_fetch_add(&started, 1) >= atoi(getenv("THREADS"))) return EAGAIN;
    return ((Create *) dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, begin, argument);
}
"""


def built(source: str, directory: Path) -> Path:
    """A library of this source in C, in a file of the directory; without a compiler, the test is skipped."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    library = directory / "preloaded.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
    return library


def slow_disk(monkeypatch: pytest.MonkeyPatch, directory: Path, longest: float) -> Path:
    """Let each sync of the processes that are started from now on take so long while a file exists. Returns the file, which does not exist yet.

    longest: In seconds.
    """
    library, file = built(SLOW_DISK, directory), directory / "disk_is_slow"
    for name, value in [("LD_PRELOAD", library), ("SLOW_DISK", file), ("SLOW_DISK_LONGEST", int(100 * longest))]:
        monkeypatch.setenv(name, str(value))
    return file


def few_threads(library: Path, threads: int) -> dict[str, str]:
    """The environment in which a process may start so many threads, with the library of `FEW_THREADS`."""
    return {"LD_PRELOAD": str(library), "THREADS": str(threads)}
