"""Files that are the old ones or the new ones, never something between."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that it is the old one or the new one, whatever happens meanwhile."""
    content = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp's files are for their owner alone
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
