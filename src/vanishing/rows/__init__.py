"""Rows, wherever they are: one way in, one way to ask them, one way to apply a method.

- `arrays`: of any library, and small steps taken where they are
- `intake`: what a user gave, validated; `validation`: its checks of rows in memory
- `source`: blocks that are asked where they are; `array_source`, `blocks`, `dask`: their kinds
- `questions`, `reader`, `together`, `remembered`: what is asked, for constructions
- `block`, `device`: sums and values of monomials on rows at hand; `values`: those of generators
- `apply`: a method row by row
- `moments`, `noise`, `error_bars`: what follows from sums alone
"""
