"""The anatomy of a fitted model: what it consists of, for everyone who shows it."""

from vanishing.inspection.anatomy import Anatomy, Part, anatomy, places

__all__ = ["Anatomy", "Part", "anatomy", "places"]
