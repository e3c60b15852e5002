"""The only readers of rows: arrays, blocks, Dask collections, device arrays, tables, moments."""
