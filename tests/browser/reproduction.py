"""A reproduction that runs in the background of the tests: it takes minutes, and most tests do not need it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: The studies that are run. The others take longer.
STUDIES = ("moc", "postal")
#: The longest time that they may take. [s]
TIMEOUT = 1_100


class Reproduction:
    """A reproduction by the installed command."""

    def __init__(self, command: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="report-"))
        arguments = [str(command), "reproduce", *STUDIES, "--report", str(self._folder)]
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def command() -> Path | None:
        """The command, if it is installed."""
        command = Path(sys.executable).with_name("maquette")
        return command if command.exists() else None

    def page(self) -> Path:
        """Wait for the report, and return its path."""
        _, problem = self._process.communicate(timeout=TIMEOUT)
        assert self._process.returncode in (0, 1), problem
        return self._folder / "index.html"

    def close(self) -> None:
        """Stop it if it is still running, and remove its files."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)
        shutil.rmtree(self._folder)
