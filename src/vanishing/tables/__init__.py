"""Files as people have them, and the recipe that makes columns of numbers of their cells.

A format (`formats`) yields cells; `kinds` says what a column of them is, `columns` makes numbers of
it, `recipe` does so again with another file. Files need pandas: the extra ``app``.
"""
