"""What all estimators share: names of columns, fits that are all or nothing, HTML, saving.

- `names`: names of the input's columns
- `fits`: a fit that fails leaves its estimator as it was; what a fit has to say when it returns
- `notebook`: how estimators look in notebooks
- `saving`: the method `save`
"""
