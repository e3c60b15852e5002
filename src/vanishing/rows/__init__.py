"""Rows, wherever they are: one way in, one way to ask them, one way to apply a method.

- `arrays`: arrays of any library, and small steps that leave them where they are
- `intake`: validates what a user gave; `validation`: checks of rows in memory
- `source`: blocks of rows, asked where they are; `array_source`, `blocks`, `dask`: their kinds
- `questions`, `reader`, `together`, `remembered`: what constructions ask
- `block`, `device`: sums and values of monomials on rows in memory; `values`: values of generators
- `apply`: applies a method row by row
- `moments`, `noise`, `error_bars`: what follows from sums alone
"""
