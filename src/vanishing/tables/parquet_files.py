"""Parquet files, by pyarrow."""

import numpy as np

from vanishing.tables.errors import NoPackageError, TableError
from vanishing.tables.files import FileTable


class ParquetTable(FileTable):
    """A Parquet file."""

    endings = (".parquet", ".pq")

    def _file(self):
        try:
            import pyarrow.parquet as pq
        except ImportError:
            raise NoPackageError("Parquet files", "pyarrow") from None
        return pq.ParquetFile(self.path)

    def _names(self):
        with self._file() as file:
            schema = file.schema_arrow
        described = schema.pandas_metadata
        # The index of a DataFrame is no column.
        index = described.get("index_columns") if isinstance(described, dict) else None
        index = index if isinstance(index, list) else []
        self.fields = [i for i, name in enumerate(schema.names) if name not in index]
        self.types = [str(schema.types[i]) for i in self.fields]
        return [schema.names[i] for i in self.fields]

    def is_text(self, place):
        """Say whether the file declares a column as text."""
        return "string" in self.types[place]  # also in dictionary<values=string, ...>

    def _blocks(self, places, texts, rows):
        names = [self.names[i] for i in places]
        # Columns are asked for by name; where names occur twice, all of them are read.
        alone = all(len(self.places[name]) == 1 for name in names)
        wanted = list(dict.fromkeys(names)) if alone else None
        with self._file() as file:
            for batch in file.iter_batches(batch_size=rows, columns=wanted):
                yield [
                    self._cells(
                        batch.column(name if alone else self.fields[place]), name, place in texts
                    )
                    for name, place in zip(names, places, strict=True)
                ]

    def _cells(self, column, name, as_text) -> np.ndarray:
        from pyarrow import types

        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_nested(column.type):
            raise TableError(f"Column {name!r} of {self.path} holds {column.type}, not numbers.")
        numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not as_text and any(test(column.type) for test in numeric):
            return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        texts = ["" if v is None or v != v else str(v) for v in column.tolist()]
        return np.array(texts, dtype=object)
