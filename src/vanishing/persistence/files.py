"""Files that are the old ones or the new ones, never something between."""

import errno
import os
import secrets
import stat
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that it is the old one or the new one, whatever happens meanwhile.

    A file that is replaced keeps its permissions, and a link its place: what it points to is
    replaced. A process that is killed may leave a file beside it, ``.NAME.*.tmp``.
    """
    content = content.encode() if isinstance(content, str) else content
    path = Path(os.path.realpath(path))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # a device would be replaced as well
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, "it is not a file that could be replaced", str(path))
    # Names have up to 255 bytes, and characters up to four.
    temporary = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))  # first: it may be for its owner alone
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_or_say(path: Path, content: str | bytes, what: str) -> None:
    """Write atomically, or let the error say what was not written and what became of the file."""
    try:
        write_atomically(path, content)
    except OSError as problem:
        if not path.parent.is_dir():
            said = f"{what}, there is no folder {str(path.parent)!r}"
        else:
            said = f"{what}, and the file is as before ({problem.strerror})"
        raise OSError(problem.errno, said, str(path)) from problem


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Read a file of which nothing is known; raise ValueError if it is too large to be true."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device or a pipe may never end
        raise ValueError("it is not a file.")
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it is larger than max_bytes={max_bytes}.")
    return content
