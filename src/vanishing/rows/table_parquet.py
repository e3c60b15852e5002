"""Parquet files, by pyarrow."""

import numpy as np

from vanishing.rows.table_base import NoPackageError, Table, TableError, text_of


class ParquetTable(Table):
    """A Parquet file."""

    def _file(self):
        try:
            import pyarrow.parquet as pq
        except ImportError:
            raise NoPackageError(
                "Parquet files need pyarrow: install with python -m pip install 'vanishing[app]'."
            ) from None
        return pq.ParquetFile(self.path)

    def _names(self):
        with self._file() as file:
            schema = file.schema_arrow
        described = schema.pandas_metadata
        # The index of a DataFrame is no column.
        index = described.get("index_columns") if isinstance(described, dict) else None
        return [name for name in schema.names if not (isinstance(index, list) and name in index)]

    def _columns(self, places, texts, rows):
        from pyarrow import types

        names = [self.names[i] for i in places]
        with self._file() as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(dict.fromkeys(names))):
                columns = []
                for name in names:
                    column = batch.column(name)
                    if types.is_dictionary(column.type):
                        column = column.dictionary_decode()
                    if types.is_nested(column.type):
                        self._refuse(column, name)
                    columns.append(column)
                yield columns

    def _parsed(self, column, name):
        from pyarrow import types

        kind = column.type
        if str(kind) in ("string", "large_string", "string_view"):
            return None
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not (types.is_null(kind) or any(test(kind) for test in tests)):
            self._refuse(column, name)
        return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)

    def _cells(self, column):
        from pyarrow import types

        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if any(test(column.type) for test in tests):
            return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        return np.array([text_of(value) for value in column.tolist()], dtype=object)

    def _refuse(self, column, name):
        raise TableError(f"Column {name!r} of {self.path} holds {column.type}, not numbers.")

    def _values(self, column, before, name, start):
        return np.asarray(column)

    def lines(self, rows):
        """Say where rows are."""
        return {row: f"row {row + 1}" for row in rows}
