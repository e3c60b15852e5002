"""The app as a user starts it, seen from outside."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

_RUN = "from vanishing.cli import main; main()"


class Server:
    """A server of the app in a process of its own, whose temporary folders are in ``folder``."""

    def __init__(self, folder, *options):
        environment = {**os.environ, "TMPDIR": str(folder)}
        self.temporary = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", _RUN, "app", "--no-browser", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:([0-9]+)/\?token=(\S+)", line)
        assert found, self.process.communicate()
        self.address, self.port, self.token = found[0], int(found[1]), found[2]
        self.root = f"http://127.0.0.1:{self.port}"

    @property
    def folders(self):
        return list(Path(self.temporary).glob("vanishing-app-*"))

    @property
    def workers(self):
        """The processes that compute."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(status.parent.name))
        return found

    def end(self, how=signal.SIGINT):
        """End the server; return its exit status and what it complained of."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        complaints = self.process.communicate(timeout=240)[1]  # Ctrl-C waits for compilers
        return self.process.returncode, complaints
