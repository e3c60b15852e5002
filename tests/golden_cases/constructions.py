"""Cases of golden.py: constructions, their transforms and paths, and moments."""

from pathlib import Path

import numpy as np
from sklearn.base import clone

import vanishing
from golden_cases.asking import fit_and_ask, fit_kind
from golden_cases.tables import (
    EXACT,
    FEW_KINDS,
    IRIS_SCALED,
    KINDS,
    POINTS,
    SURFACE,
    SURFACE_NAMES,
    WEIGHTS,
    beside,
    case,
    circle,
    rows,
)
from vanishing import ABM, AVI, OAVI, VCA, BuchbergerMoller, ContrastiveVanishing, Moments

# -- Constructions --------------------------------------------------------------------------------

CONSTRUCTIONS = {
    **{
        f"oavi {oracle} {border}": OAVI(0.002, oracle=oracle, border=border, max_degree=4)
        for oracle in vanishing.oracles.ORACLES
        for border in ("gb", "bb")
    },
    **{
        f"oavi certify={certify} refit={refit}": OAVI(
            0.002, oracle="omp", certify=certify, refit=refit
        )
        for certify in (False, True)
        for refit in (False, True)
    },
    "oavi pcg without refit": OAVI(0.002, refit=False),
    "oavi small ball": OAVI(0.002, tau=2.0),
    "oavi pearson": OAVI(0.002, feature_order="pearson"),
    "oavi reversed pearson": OAVI(0.002, feature_order="rev_pearson"),
    "oavi few terms": OAVI(0.0002, max_terms=5),
    "oavi tiny psi": OAVI(1e-9, max_degree=2),
    "oavi psi 0": OAVI(0, max_degree=3),
    "oavi signed in chunks": OAVI(0.002, absolute=False, chunk_size=17),
    "abm coefficients": ABM(0.002, max_degree=4),
    "abm gradient": ABM(0.002, normalization="gradient", max_degree=4),
    "abm bb": ABM(0.002, border="bb", max_degree=3, feature_order="pearson"),
    "avi": AVI(0.002, max_degree=3),
    "avi gb": AVI(0.002, border="gb", max_terms=9),
    "vca gradient": VCA(0.002, max_degree=3),
    "vca l2": VCA(0.05, normalization="l2", max_degree=3),
    "contrastive": ContrastiveVanishing(max_degree=2),
}
for _name, _model in CONSTRUCTIONS.items():
    case(f"fit/surface/{_name}", _model, SURFACE, asked=SURFACE[:9])(fit_and_ask)
    case(f"fit/weights/{_name}", _model, SURFACE, asked=SURFACE[:9], sample_weight=WEIGHTS)(
        fit_and_ask
    )
for _name in ("oavi pcg gb", "oavi ls bb", "oavi psi 0", "abm coefficients", "avi", "vca gradient"):
    case(f"fit/exact/{_name}", CONSTRUCTIONS[_name], EXACT, asked=SURFACE[:9])(fit_and_ask)
    case(f"fit/iris/{_name}", CONSTRUCTIONS[_name], IRIS_SCALED, asked=IRIS_SCALED[:9])(fit_and_ask)


for _name in ("oavi pcg gb", "oavi omp bb", "oavi tiny psi", "abm coefficients", "avi"):
    _kinds = KINDS if _name == "oavi pcg gb" else ["float32", *FEW_KINDS]
    for _kind in _kinds:
        case(f"fit/kinds/{_name}/{_kind}", CONSTRUCTIONS[_name], _kind, SURFACE)(fit_kind)
for _kind in KINDS:
    _oavi = CONSTRUCTIONS["oavi pearson"]
    case(f"fit/kinds/weights/{_kind}", _oavi, _kind, SURFACE, weight=WEIGHTS)(fit_kind)
for _kind in ("float32", *FEW_KINDS):
    case(f"fit/kinds/vca/{_kind}", VCA(0.002), _kind, SURFACE)(fit_kind)


@case("fit/kinds/many rows of another device")
def many_on_a_device():
    # More than are taken to the CPU at once.
    table = np.tile(SURFACE, (190, 1)) + np.linspace(0, 1e-3, 190 * len(SURFACE))[:, None]
    return fit_and_ask(OAVI(0.002), rows("other device", table))


def _transform(fit_kind, kind):
    model = OAVI(0.002).fit(rows(fit_kind, SURFACE))
    return model.transform(rows(kind, SURFACE))


for _kind in KINDS:
    case(f"transform/of an array/{_kind}", "array", _kind)(_transform)
    case(f"transform/of a frame/{_kind}", "frame", _kind)(_transform)


def _set_output(output, kind):
    model = OAVI(0.002).set_output(transform=output).fit(rows("frame", SURFACE))
    return model.transform(rows(kind, SURFACE))


for _kind in KINDS:
    case(f"transform/set_output/pandas of {_kind}", "pandas", _kind)(_set_output)
for _kind in ("frame", "polars", "array"):
    case(f"transform/set_output/polars of {_kind}", "polars", _kind)(_set_output)


def _path(model, kind="array", weight=None):
    psis = [0.02, 0.002, 0.0002]
    given = {} if weight is None else {"sample_weight": beside(kind, weight)}
    return list(clone(model).path(rows(kind, SURFACE), psis, **given))


for _model in (OAVI(), OAVI(oracle="ls", border="bb"), ABM(), AVI(max_degree=3), VCA()):
    _name = f"{type(_model).__name__} {getattr(_model, 'border', '')}".strip()
    case(f"path/{_name}/array", _model)(_path)
    case(f"path/{_name}/weights", _model, weight=WEIGHTS)(_path)
    case(f"path/{_name}/blocks", _model, "blocks")(_path)


# -- Exact points, moments ------------------------------------------------------------------------

for _border in ("gb", "bb"):
    case(f"exact/points/{_border}", BuchbergerMoller(border=_border), POINTS)(
        lambda model, points: clone(model).fit(points)
    )
case("exact/points/max_degree", BuchbergerMoller(max_degree=1), POINTS)(
    lambda model, points: clone(model).fit(points)
)


def _moments(weight=None, degree=3):
    moments = Moments(3, degree, feature_names=SURFACE_NAMES)
    for part in (slice(0, 50), slice(50, None)):
        moments.update(SURFACE[part], None if weight is None else weight[part])
    return moments


@case("moments/sums")
def moments_sums():
    moments = _moments(WEIGHTS)
    moments.save("moments.json")
    again = Moments.load("moments.json")
    same = OAVI(0.002).fit_moments(again)
    return {"weight": moments.total_weight, "file": Path("moments.json").read_text(), "fit": same}


@case("moments/noise")
def moments_noise():
    table = circle(n_rows=2000).to_numpy()
    moments = Moments(2, 4).update(table)
    noise = moments.estimate_noise(return_std=True)
    debiased = moments.debiased(0.02)
    fits = [OAVI(0.02, max_degree=2, oracle="ls").fit_moments(m) for m in (moments, debiased)]
    bars = vanishing.error_bars(fits[0].generators_[-1], moments, noise=0.02)
    return {"noise": noise, "ratio": moments.estimate_noise([1, 2]), "fits": fits, "bars": bars}


for _name in ("oavi pcg gb", "oavi ls bb", "oavi tiny psi", "abm coefficients", "abm bb"):
    case(f"moments/fit/{_name}", CONSTRUCTIONS[_name])(
        lambda model: clone(model).set_params(max_degree=3).fit_moments(_moments(WEIGHTS))
    )
