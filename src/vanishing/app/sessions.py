"""Pages that are open: each has a folder of its own, its tables and its answers."""

import re
import secrets
import shutil
from pathlib import Path
from urllib.parse import quote

from vanishing.app import settings

_ENDINGS = 30  # characters of a name of a file that stay at its end
_NAME = 100


class Session:
    """What one page has: files of tables, and of answers, by their numbers.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.count = 0
        self.silent = 0  # minutes
        folder.mkdir(mode=0o700)

    def room(self, kind: str) -> Path:
        """Make a folder for one more table or answer, and return it; the oldest goes."""
        self.count += 1
        folder = self.folder / f"{kind}-{self.count}"
        folder.mkdir()
        kept = sorted(self.folder.glob(f"{kind}-*"), key=_number)
        for old in kept[: -settings.KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return folder

    def table(self, number: str) -> Path | None:
        """Return the file of a table, or None."""
        return next(iter(self._files(f"table-{number}")), None)

    def answer(self, number: str) -> Path | None:
        """Return the folder of an answer, or None."""
        folder = self.folder / f"answer-{number}"
        return folder if number.isdecimal() and folder.is_dir() else None

    def file(self, number: str, name: str) -> Path | None:
        """Return a file of an answer that was written to be taken away, or None."""
        return next((f for f in self._files(f"answer-{number}/files") if f.name == name), None)

    def _files(self, place: str) -> list[Path]:
        folder = self.folder / place
        is_place = re.fullmatch(r"(table|answer)-[0-9]+(/files)?", place)
        return [path for path in folder.iterdir()] if is_place and folder.is_dir() else []


class Sessions:
    """The pages that are open, by their names, which nobody can guess.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._sessions: dict[str, Session] = {}

    def begin(self) -> str:
        """Return the name of a new session."""
        while len(self._sessions) >= settings.SESSIONS:
            self.end(next(iter(self._sessions)))
        name = secrets.token_hex(16)
        self._sessions[name] = Session(self.folder / name)
        return name

    def get(self, name: str) -> Session | None:
        """Return a session, or None; it becomes the one that was heard of last."""
        session = self._sessions.pop(name, None)
        if session is not None:
            session.silent = 0
            self._sessions[name] = session
        return session

    def pass_minute(self) -> None:
        """End pages that were silent for too long: their browser has crashed.

        Minutes are counted, not measured, since a machine that slept was silent itself.
        """
        for name, session in list(self._sessions.items()):
            session.silent += 1
            if session.silent > settings.SILENT:
                self.end(name)

    def end(self, name: str) -> None:
        """Forget a session and remove its folder."""
        session = self._sessions.pop(name, None)
        if session is not None:
            shutil.rmtree(session.folder, ignore_errors=True)


def file_name(given: str) -> str:
    """Return a name for a file in a folder of ours, as close to the given one as is safe.

    Examples
    --------
    >>> from vanishing.app.sessions import file_name
    >>> file_name("../../etc/passwd"), file_name("gas 2.csv"), file_name("a<b>.csv")
    ('passwd', 'gas 2.csv', 'a_b_.csv')
    """
    name = re.split(r"[/\\]", given)[-1]
    name = re.sub(r"[^\w .,()+@=-]|[\x00-\x1f\x7f]", "_", name).strip(" .")
    name = name if len(name) <= _NAME else name[: _NAME - _ENDINGS] + name[-_ENDINGS:]
    while len(quote(name)) > 3 * _NAME:  # a name of a file may have 255 bytes
        name = name[1:]
    return name or "table.csv"


def _number(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])
