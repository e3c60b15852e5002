"""Files as people have them, and the recipe that turns their cells into columns of numbers.

A format (`formats`) yields cells; `kinds` recognises what a column of cells is, `columns` turns it
into numbers, `recipe` does the same with another file. Files need pandas: the extra ``app``.
"""
