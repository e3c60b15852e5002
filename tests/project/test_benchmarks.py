"""The suites of benchmarks: what asv finds, and the cheapest case of each, run once."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.running import cases, suites

SUITES = list(suites())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "methods"), SUITES, ids=[f"{s.__module__}.{s.__name__}" for s, _ in SUITES]
)
def test_the_cheapest_case_of_each_suite(suite, methods, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = cases(suite)[0]
    assert len(suite.param_names) == len(case)
    instance = suite()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing vanishes, or that a fit stops, is the point
        try:
            instance.setup(*case)
            values = {name: getattr(instance, name)(*case) for name in methods}
        except NotImplementedError as missing:
            pytest.skip(str(missing))
    for name, value in values.items():
        if name.startswith("track_"):
            assert getattr(suite, name).unit
            assert np.isfinite(value)
        else:
            assert value is None
