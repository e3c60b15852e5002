"""Which tables may be read: those below some folders, wherever links and dots lead."""

from collections.abc import Sequence
from pathlib import Path

from vanishing.tables.errors import TableError


class Folders:
    """Folders whose tables may be read.

    Parameters
    ----------
    folders : sequence of path-like
        Which must exist.
    """

    def __init__(self, folders: Sequence[str | Path]):
        self.folders = [Path(folder).resolve() for folder in folders]
        for folder, given in zip(self.folders, folders, strict=True):
            if not folder.is_dir():
                raise ValueError(f"There is no folder {given}.")

    def file(self, name: str) -> Path:
        """Return a file below one of the folders.

        Parameters
        ----------
        name : str
            Relative to one of the folders, or absolute.

        Returns
        -------
        path : Path

        Raises
        ------
        TableError
            If there is no such file below the folders; it does not say whether there is one
            elsewhere.
        """
        for folder in self.folders:
            try:
                path = (folder / name).resolve()
                is_below = path.is_relative_to(folder) and path.is_file()
            except (OSError, ValueError, RuntimeError):  # loops of links, or a NUL in the name
                continue
            if is_below:
                return path
        listed = ", ".join(map(str, self.folders))
        raise TableError(f"There is no file {name!r} below {listed}.")
