"""Time derivatives of measured runs."""


def derivatives(X, t, groups, method="smooth"):
    """Stand-in."""
    raise NotImplementedError
