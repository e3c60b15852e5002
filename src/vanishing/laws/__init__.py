"""Which law holds? A table, and the equations its columns obey.

To read in this order. The search for the law of a target, step by step:

- `table`: columns that take part, in units near their size
- `robust`: rows that are wrong
- `unequal`: rows whose noise grows with the target
- `exponents`, `products`: products of powers, in logarithms
- `factors`, `indices`: factors of a target, and the product that the rest is a function of
- `reductions`: which combinations of columns matter
- `problem`: the rows in the variables that are left
- `dictionary`: terms to choose from
- `links`: T(target) = sum of terms
- `homogeneous`: which of them may stand together, where coefficients have no dimension
- `implicit`: several terms in the target
- `refit`: coefficients in units of the target
- `equations.forms`, `form_grids`, `form_fits`: curves with constants inside functions
- `exact`, `ends`: laws that hold up to rounding, and at the ends of columns
- `choose`: which candidate, if any
- `search`: all these steps
- `passes`, `results`, `form_laws`: the law fitted to all rows
- `targets`: all of it for one column, and what is said about it

Laws in which no column is singled out, or all have noise:

- `symmetric`: the search
- `untargeted`: symmetric laws first, then each column in turn

What people use:

- `finder`: the estimator `LawFinder`
- `constants`, `check`: the constants of an equation, and whether it holds
- `register_link`, `register_stage`: functions of your own, of the target and in terms
"""

from vanishing.equations.forms import register_form, unregister_form
from vanishing.laws.dictionary import register_stage, unregister_stage
from vanishing.laws.links import register_link, unregister_link

__all__ = [
    "register_form",
    "register_link",
    "register_stage",
    "unregister_form",
    "unregister_link",
    "unregister_stage",
]
