"""Arrays as sources of rows: a NumPy array is one block, one of a device stays there in pieces."""

from copy import copy

from vanishing.checks import weight_unit
from vanishing.rows import arrays
from vanishing.rows.source import (
    RowLayout,
    RowPart,
    RowSource,
    at_block,
    checked_labels_and_weights,
    coded,
    given_weights,
    joined,
    labels_on_device,
    part_on_host,
)

_HOST_ROWS = 50_000  # of a device that a thread of the CPU handles at a time


class ArraySource(RowSource):
    """Rows in memory: a source of one block.

    Parameters
    ----------
    part : RowPart
        Rows that have been validated.
    piece_rows : int or None
        Rows that a thread handles at a time; None asks all of them at once.
    """

    part: RowPart

    def __init__(self, part: RowPart, piece_rows: int | None = None):
        self.part = part
        self.piece_rows = piece_rows
        self.layout = RowLayout(part.X.shape[1], None, part.X.dtype.name)

    def ask(self, question, combine):
        """Ask all rows, in pieces that threads take in turn."""
        if self.piece_rows is None:
            return question(self.part)
        return self.part.ask(question, combine, self.piece_rows)

    def on_host(self):
        """Return the source itself."""
        return self

    def converted(self, convert):
        """Return the converted rows, in memory."""
        return ArraySource(convert(self.part), self.piece_rows)

    def ordered(self, order, piece_rows):
        """Return the rows in an order that they are asked for."""
        return ArraySource(self.part.at(order(self.part)), piece_rows)


class DeviceSource(RowSource):
    """One array of another library, asked on its device, one piece of its rows after the other.

    Whatever selects or scales rows copies them: pieces of bounded size, never all rows.
    """

    def __init__(self, X, y=None, sample_weight=None):
        self.X, self.y = X, y
        rows = arrays.checked(X)  # once: the array is not changed later
        y, _ = checked_labels_and_weights(y, None, X.shape[0])
        weight = self.kept = None
        if sample_weight is not None:
            if not arrays.is_device_array(sample_weight):
                sample_weight = arrays.like(X, given_weights(sample_weight))
            weight, is_positive = arrays.checked_weights(X, sample_weight, weight_unit)
            self.kept = None if is_positive is None else arrays.to_numpy(is_positive)
        self.rows = RowPart(rows, y, weight)
        dtype = arrays.floating_dtype(rows)
        self.layout = RowLayout(X.shape[1], None, str(dtype).rpartition(".")[2])

    def ask(self, question, combine):
        """Ask pieces of the rows, one after the other: an accelerator is busy with each."""
        pieces = enumerate(self._pieces())
        return joined(combine, (at_block(question, i)(piece) for i, piece in pieces))

    def on_host(self):
        """Return the source for NumPy rows: pieces go to the CPU, whose threads share each."""
        return _HostSource(self)

    def _pieces(self):
        """Yield the rows of positive weight, as floats."""
        size, start = arrays.piece_rows(self.layout.n_features), 0
        for part in self.rows.pieces(size):
            if self.kept is not None:
                part = part.at(self.kept[start : start + size])
                start += size
            if part.X.shape[0]:
                yield part._replace(X=arrays.as_floats(part.X))

    def labelled(self):
        """Move labels to the device, once for all passes."""
        return self._with(labels_on_device(self.rows, self.y))

    def coded(self, classes):
        """Look up the places of all labels, once for all passes."""
        pieces = self.rows.pieces(arrays.piece_rows(self.layout.n_features))
        places = [coded(piece, classes).y for piece in pieces]
        return self._with(self.rows._replace(y=arrays.namespace(self.X).concat(places)))

    def _with(self, part: RowPart) -> "DeviceSource":
        source = copy(self)
        source.rows = part
        return source


class _HostSource(RowSource):
    """Rows of a device, moved to the CPU piece by piece whenever they are asked."""

    def __init__(self, source: DeviceSource):
        self.source, self.layout = source, source.layout

    def ask(self, question, combine):
        """Ask each piece by the threads of the CPU."""
        return self.source.ask(
            lambda piece: part_on_host(piece).ask(question, combine, _HOST_ROWS), combine
        )
