"""Which law holds? A table, and the equations its columns obey.

To read in this order. What is found:

- `terms`: products of powers of columns, and of functions of such products
- `expressions`, `writing`, `mathml`: formulas as trees; as text, LaTeX, Python, SymPy and MathML
- `solving`: closed forms of an equation for one of its columns
- `units`: the units of numbers in an equation
- `columns`, `saving`: columns from arrays and frames; terms as JSON values
- `law`: an equation with its coefficients and all that is known of it

The search for the law of a target, step by step:

- `sample`, `table`: rows and columns that take part, in units near their size
- `robust`: rows that are wrong
- `unequal`: rows whose noise grows with the target
- `surrogate`: a smooth function of the columns, the noise, and gradients
- `reductions`: which combinations of columns matter
- `problem`: the rows in the variables that are left
- `dictionary`: terms to choose from
- `links`: T(target) = sum of terms
- `homogeneous`: which of them may stand together, where coefficients have no dimension
- `implicit`: several terms in the target
- `normal`, `sparse`, `ratios`: least squares, and few terms out of many, from Gram matrices
- `refit`: coefficients in units of the target
- `choose`: which candidate, if any
- `search`: all these steps
- `passes`, `results`: the law fitted to all rows
- `targets`: all of it for one column, and what is said about it

Laws in which no column is singled out, or all have noise:

- `debiased`: moments without what noise adds to them
- `variety`: which equations follow from others
- `symmetric`: the search
- `untargeted`: symmetric laws first, then each column in turn

What people use:

- `finder`: the estimator `LawFinder`
- `equations`, `constants`, `check`: an equation read from text, its constants, and whether it holds
"""
