"""Columns far from the origin: nothing is claimed of noise."""

import numpy as np
import pytest

from vanishing import LawFinder


@pytest.mark.parametrize("centre", [1e2, 1e4, 1e6, 1e8])
def test_noise_far_from_the_origin_has_no_law(centre):
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert not LawFinder(max_degree=4).fit(X + centre).laws_
