"""Equations of motion as an estimator among others: scikit-learn, threads, interruptions."""

import threading

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import EquationsOfMotion, listening
from vanishing.datasets import make_motion
from vanishing.motion import measured, settings
from vanishing.motion.equations_fit import EquationsFit

# -- scikit-learn ----------------------------------------------------------------------------------


class Timed(EquationsOfMotion):
    """Takes rows for one run in their order: for checks that give no times."""

    def fit(self, X, y=None, groups=None, inputs=None, sample_weight=None):
        n_rows = X.shape[0] if hasattr(X, "shape") and X.shape else len(np.asarray(X, dtype=object))
        return super().fit(X, np.arange(float(n_rows)), groups, inputs, sample_weight)

    def score(self, X, y=None, sample_weight=None):
        return super().score(X, np.arange(float(len(X))), sample_weight=sample_weight)


OTHERWISE = {
    "check_fit2d_1sample": "says that the table has one row",
    "check_estimators_pickle": "fit takes rows with missing cells, and predict does not",
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [Timed(1, functions=(), max_terms=1)], expected_failed_checks=lambda estimator: OTHERWISE
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    """The rows of these checks are noise: something is claimed of them all the same, and soon."""
    if check.func.__name__ == "check_sample_weight_equivalence_on_dense_data":
        pytest.skip("the order of rows is their time here: there are no repeated rows")
    monkeypatch.setattr(EquationsFit, "_objection", lambda *_: None)
    for name, value in {"ROUNDS": 1, "SHOT_STEPS": 1, "PIECES": (1,), "SHORT_PIECES": 1}.items():
        monkeypatch.setattr(settings, name, value)
    check(estimator)


# -- Threads and interruptions ---------------------------------------------------------------------


def test_threads_change_nothing(monkeypatch):
    X, t, groups = make_motion("lorenz", 1, 200, noise=0.01, t_end=4.0, random_state=0)
    used, smoothed = set(), measured.smoothed
    both = threading.Barrier(2, timeout=30.0)

    def noted(rows, noise):
        if len(used) < 2:
            used.add(threading.get_ident())
            both.wait()  # until a second thread smooths a column at the same time
        return smoothed(rows, noise)

    one = EquationsOfMotion(2, functions=(), n_jobs=1).fit(X, t, groups)
    monkeypatch.setattr(measured, "smoothed", noted)
    two = EquationsOfMotion(2, functions=(), n_jobs=2).fit(X, t, groups)
    assert len(used) == 2
    assert list(map(str, one.equations_)) == list(map(str, two.equations_))
    assert np.array_equal(one.predict(X), two.predict(X))
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        EquationsOfMotion(n_jobs=0).fit(X, t, groups)


@pytest.mark.slow
def test_an_interruption_leaves_what_was_there():
    X, t, groups = make_motion("oscillator", 2, 40, noise=0.01, random_state=0)
    steps = []
    with listening(lambda done, of, what: steps.append(what)):
        whole = EquationsOfMotion(functions=()).fit(X, t, groups)
    found = list(map(str, whole.equations_))
    assert len(steps) > 3 and len(found) == 2
    for stop in range(1, len(steps) + 1):

        def interrupt(done, of, what, stop=stop):
            if done == stop:
                raise KeyboardInterrupt

        new = EquationsOfMotion(functions=())
        for model in (new, whole):
            with pytest.raises(KeyboardInterrupt), listening(interrupt):
                model.fit(X**3, t, groups)
        assert not hasattr(new, "equations_") and not hasattr(new, "n_features_in_")
        assert list(map(str, whole.equations_)) == found and whole.runs_.tolist() == [0, 1]
