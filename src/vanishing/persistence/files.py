"""Files that are the old ones or the new ones, never half written."""

import errno
import os
import secrets
import stat
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that it is the old one or the new one, whatever happens in between.

    A file that is replaced keeps its permissions. A link stays, and the file it points to is
    replaced. A process that is killed may leave a file ``.NAME.*.tmp`` in the same folder.
    """
    content = content.encode() if isinstance(content, str) else content
    path = Path(os.path.realpath(path))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # a device would be replaced, too
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, "only a file can be replaced, not a folder or a device", str(path))
    # Names have up to 255 bytes, a character up to four.
    temporary = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))  # first: it may be private
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_or_say(path: Path, content: str | bytes, what: str) -> None:
    """Write atomically; an error says what was not written, and that the file is as before."""
    try:
        write_atomically(path, content)
    except OSError as problem:
        if not path.parent.is_dir():
            message = f"{what}, there is no folder {str(path.parent)!r}"
        else:
            message = f"{what}, and the file is as before ({problem.strerror})"
        raise OSError(problem.errno, message, str(path)) from problem


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Read a file that may be anything; raise ValueError if it is no file, or too large."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device or a pipe may never end
        raise ValueError("it is not a file.")
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it is larger than max_bytes={max_bytes}.")
    return content
