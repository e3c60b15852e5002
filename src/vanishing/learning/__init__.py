"""Which class is it? Scaling, features, a sparse linear classifier, the search for psi and C."""
