"""The anatomy of a fitted model: what it consists of, for everyone who shows it."""

from vanishing.inspection.anatomy import Anatomy, Part, anatomy

__all__ = ["Anatomy", "Part", "anatomy"]
