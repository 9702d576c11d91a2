"""A reproduction that is made beside the tests: it takes minutes, and most of them do not need it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: The studies that are run here. The others take longer.
STUDIES = ("moc", "postal")
#: How long that may take. [s]
PATIENCE = 900


class Reproduction:
    """A reproduction by the command that these tests run with."""

    def __init__(self, command: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="report-"))
        # It gives way to the tests.
        making = ["nice", "-n", "10", str(command), "reproduce", *STUDIES, "--report", str(self._folder)]
        self._process = subprocess.Popen(making, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def command() -> Path | None:
        """The command, where it is installed."""
        command = Path(sys.executable).with_name("maquette")
        return command if command.exists() else None

    def page(self) -> Path:
        """Its report, once it is there."""
        _, problem = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode in (0, 1), problem
        return self._folder / "index.html"

    def close(self) -> None:
        """End it, if it has not ended, and remove what it has made."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)
        shutil.rmtree(self._folder)
