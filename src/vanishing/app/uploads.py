"""Tables that arrive: written to a file as they come, and no more of them than is allowed."""

from pathlib import Path

from starlette.requests import Request


class TooLargeError(ValueError):
    """More bytes came than are allowed."""


async def written(request: Request, path: Path, most: int) -> int:
    """Write the body of a request to a file, and return its size; a part of a file does not stay.

    Parameters
    ----------
    request : Request
    path : Path
    most : int
        Bytes that are allowed.

    Returns
    -------
    size : int

    Raises
    ------
    TooLargeError
        If there are more; what was written is removed.
    """
    size = 0
    try:
        # What the request says of its length saves the time of sending it.
        if int(request.headers.get("content-length") or 0) > most:
            raise TooLargeError
        with path.open("xb") as file:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise TooLargeError
                file.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return size
