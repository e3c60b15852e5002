"""What all estimators share: names of columns, all-or-nothing fits, progress, HTML, saving.

- `names`: names of the input's columns
- `fits`: a fit that fails leaves its estimator as it was; the warning a fit issues at its end
- `progress`: how far a fit is, for `verbose` and for callbacks
- `row_methods`: methods that answer row by row, wherever the rows are
- `notebook`: how estimators look in notebooks
- `saving`: the method `save`
"""
