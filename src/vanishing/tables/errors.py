"""Why a file cannot be used: errors of one sentence, whatever a library has raised."""

import csv
import gzip
import lzma
import zipfile
import zlib
from contextlib import contextmanager

from vanishing.checks import install

LISTED = 20  # names that a message lists
_SHOWN = 40  # characters of a value that a message shows
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


class TableError(ValueError):
    """Why a file cannot be used: one sentence.

    Parameters
    ----------
    message : str
    remedy : str
        The option of the command line with which the file can be used.
    remedies : iterable of (str, value)
        Options and their values that may help, such as ("sheet", "Data").
    """

    def __init__(self, message, *, remedy="", remedies=()):
        super().__init__(message)
        self.remedy = remedy
        self.remedies = tuple(remedies)


class EncodingError(TableError):
    """A file is not text in the encoding in which it is read."""


class NoFileError(TableError, FileNotFoundError):
    """There is no such file."""


class NoPackageError(TableError, ImportError):
    """A package that reads such files is not installed.

    Parameters
    ----------
    what : str
        What needs the package.
    package : str
    """

    def __init__(self, what, package):
        super().__init__(f"{what} need {package}: install with {install('app')}.")


@contextmanager
def reading(path):
    """Turn errors of libraries that read files into one sentence."""
    try:
        yield
    except TableError:
        raise
    except _DAMAGED as error:
        raise TableError(
            f"{path} cannot be read: it is damaged, or not compressed as its name says."
        ) from error
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"{path} is not text in {error.encoding.upper()} (byte {error.start} of the part being "
            f"read is 0x{error.object[error.start]:02x}).",
            remedy="--encoding latin-1, or another, names its encoding.",
            remedies=[("encoding", "latin-1"), ("encoding", "utf-16")],
        ) from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, csv.Error) as error:  # of pandas, pyarrow and the standard library
        if "EOF inside string" in str(error) or "unexpected end of data" in str(error):
            reason = "a quote is opened and not closed (EOF inside string)"
        else:
            reason = " ".join(str(error).split()).removesuffix(".")
        has_nul = "NUL" in reason
        raise TableError(
            f"{path} cannot be read: {reason}.",
            remedy="--encoding utf-16, if that is what it is." if has_nul else "",
            remedies=[("encoding", "utf-16")] if has_nul else (),
        ) from error


def listed(values, limit=5) -> str:
    """Write values as a list in a sentence, the first ``limit`` of them."""
    shown = [repr(value) for value in values[:limit]]
    if len(values) > limit:
        return ", ".join(shown) + f" and {len(values) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def shortened(text: str) -> str:
    """Return the text of a cell, cut off for a message if it is long."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
