"""Sheets of workbooks (.xlsx), by openpyxl."""

from contextlib import contextmanager

import numpy as np

from vanishing.tables.cells import as_float, cell_text
from vanishing.tables.errors import NoPackageError, TableError, listed
from vanishing.tables.files import FileTable
from vanishing.tables.header import doubt_of, heading_of
from vanishing.tables.settings import HEADER_LINES


class WorkbookTable(FileTable):
    """A sheet of a workbook; formulas have the values that were saved with them."""

    endings = (".xlsx", ".xlsm")

    @contextmanager
    def _book(self):
        try:
            import openpyxl
        except ImportError:
            raise NoPackageError("Workbooks", "openpyxl") from None
        try:
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        except (KeyError, SyntaxError) as error:  # an archive or XML of something else
            raise TableError(f"{self.path} is no workbook that can be read.") from error
        try:
            yield book
        finally:
            book.close()

    def _names(self):
        with self._book() as book:
            for sheet in book.worksheets:
                # Up to a cell that is far away, all rows would be as wide as the sheet.
                sheet.reset_dimensions()
            # Rows that have values, each with its number in the sheet, counted from 1.
            sheets = {
                sheet.title: [
                    (number, row)
                    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1)
                    if any(value is not None for value in row)
                ]
                for sheet in book.worksheets
                if self.layout.sheet in (None, sheet.title)
            }
            titles = [sheet.title for sheet in book.worksheets]
        filled = [title for title, rows in sheets.items() if rows]
        if not sheets:
            raise TableError(
                f"{self.path} has no sheet {self.layout.sheet!r}; its sheets are {listed(titles)}."
            )
        if not filled:
            raise TableError(f"{self.path} is empty.")
        if len(filled) > 1:
            raise TableError(
                f"{self.path} has {len(filled)} sheets with values: {listed(filled, 20)}.",
                remedy="--sheet chooses one.",
                remedies=[("sheet", title) for title in filled],
            )
        self.rows = sheets[filled[0]]
        del self.rows[: self._place_of_names()]
        first = self.rows[0][1]
        width = max(i for i, value in enumerate(first) if value is not None) + 1
        if self.layout.header is False:
            return [f"x{i}" for i in range(width)]
        del self.rows[0]
        return [cell_text(value) for value in first[:width]]

    def _place_of_names(self) -> int:
        """Return how many rows are above the names; note where these are if that is a guess."""
        asked = self.layout.header_row
        if asked is not None:
            if asked > self.rows[-1][0]:
                raise TableError(f"{self.path} has no row {asked}.")
            return next(i for i, (number, _) in enumerate(self.rows) if number >= asked)
        if self.layout.header is not None:
            return 0
        heading = heading_of([list(map(cell_text, row)) for _, row in self.rows[:HEADER_LINES]])
        row = self.rows[heading.place][0]
        if not heading.place:
            return 0
        if heading.is_certain:
            self.notes.append(f"the names are in row {row} of the sheet; those above are left out.")
            return heading.place
        self.doubt = doubt_of("row", row, self.rows[0][0])
        return 0

    def _blocks(self, places, texts, rows):
        width = len(self.names)
        for start in range(0, len(self.rows), rows):
            block = []
            for i, (_, row) in enumerate(self.rows[start : start + rows], start):
                n_fields = max(j for j, value in enumerate(row) if value is not None) + 1
                if n_fields > width:
                    self.too_long[i] = n_fields
                    row = ()
                block.append((*row[:width], *[None] * (width - len(row))))
            columns = list(zip(*block, strict=True))
            yield [_column(columns[i], i in texts) for i in places]

    def lines(self, rows):
        """Return the row in the sheet of each row, which is not its number in results."""
        return {row: f"row {self.rows[row][0]} of the sheet" for row in rows}


def _column(values, as_text: bool) -> np.ndarray:
    """Return numbers; or text, among which cells stay numbers unless all must be text."""
    is_number = [type(value) in (int, float) for value in values]
    if all(is_number) and not as_text:
        return np.array([as_float(value) for value in values])
    return np.array(
        [
            value if number and not as_text else cell_text(value)
            for value, number in zip(values, is_number, strict=True)
        ],
        dtype=object,
    )
