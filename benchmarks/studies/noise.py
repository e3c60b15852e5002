"""Noise: what debiasing and gradients cost, and errors of coefficients beside other fits.

``cost``: debiasing moments, and the Gram matrix of the gradients, beside the pass over the rows
that the moments come from. ``errors``: mean largest error of a conic's coefficients (that of x1^2
scaled to 1) by the number of rows and the noise, and seconds per fit.

    python benchmarks/studies/noise.py [cost] [errors] [--seeds 10] [--rows 1000 10000]
"""

import argparse
import time
import warnings

import numpy as np
from scipy.linalg import eigh

from vanishing import ABM, OAVI, Moments
from vanishing.constructions.gradient import GradientConstruction
from vanishing.rows.reader import Rows

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SciPy moves it to a package of its own
    from scipy import odr

SHAPES = ("half circle", "ellipse")
ODR_ROWS = 10_000  # at most: a hundred thousand take minutes
START = np.array([-0.8, 0.1, 0.1, 0.8, 0.1, 1.0])  # of what iterates: about the truth


def best_of(function, repeat=5):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return result, min(times)


# ------------------------------------------------------------------------------------------- cost


class Timed(GradientConstruction):
    """Notes the seconds that H takes, all degrees together."""

    seconds = 0.0

    def _gradients(self, border, weights):
        start = time.perf_counter()
        found = super()._gradients(border, weights)
        self.seconds += time.perf_counter() - start
        return found


def slopes(X, degree):
    """Return the seconds for the Gram matrices of the gradients of all terms up to a degree."""
    options = ABM(1e-300, max_degree=degree, normalization="gradient")
    found = []
    for _ in range(3):
        construction = Timed(options, Rows(X), np.arange(X.shape[1]))
        construction.run()
        found.append(construction.seconds)
    return min(found)


def cost(n_samples=100_000):
    """Print the milliseconds of debiasing and of H beside those of the pass over the rows."""
    print(f"{n_samples} rows; milliseconds\n")
    print("| columns | degree | moments | pass | debiasing, first | debiasing, again | H |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rng = np.random.default_rng(0)
    for n_features, degree in ((2, 3), (3, 3), (5, 2), (5, 3), (8, 2)):
        X = rng.uniform(-1, 1, (n_samples, n_features))
        raw, passing = best_of(lambda X=X, d=degree: Moments(X.shape[1], d).update(X), 3)

        def debias(raw=raw):
            vars(raw).pop("debias", None)  # the map is kept from one time to the next
            return raw.debiased(0.1)

        again = best_of(lambda raw=raw: raw.debiased(0.1))[1]
        values = [passing, best_of(debias)[1], again, slopes(X[:2000], degree)]
        shown = " | ".join(f"{1000 * value:.2f}" for value in values)
        print(f"| {n_features} | {degree} | {len(raw.terms)} | {shown} |")
    print()


# ----------------------------------------------------------------------------------------- errors


def sample(shape, m, noise, seed):
    """Return rows and the true coefficients."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi if shape == "half circle" else 2 * np.pi, m)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    truth = np.array([-1.0, 0, 0, 1, 0, 1])
    if shape == "ellipse":  # axes 1.5 and 0.7, turned by 0.5, about (0.2, -0.1)
        turn = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
        axes, centre = np.array([1.5, 0.7]), np.array([0.2, -0.1])
        X = (X * axes) @ turn + centre
        Q = turn.T @ np.diag(axes**-2.0) @ turn
        b = Q @ centre
        truth = np.array([centre @ b - 1, *(-2 * b), Q[0, 0], 2 * Q[0, 1], Q[1, 1]])
    return X + noise * rng.normal(size=X.shape), truth / truth[-1]


def evaluated(X):
    x, y = X.T
    return np.column_stack([np.ones(len(X)), x, y, x * x, x * y, y * y])


def least_squares(X):
    A = evaluated(X)
    return np.append(np.linalg.lstsq(A[:, :-1], -A[:, -1], rcond=None)[0], 1.0)


def total_least_squares(X):
    return np.linalg.svd(evaluated(X), full_matrices=False)[2][-1]


def orthogonal_distances(X):
    """Fit an implicit conic by SciPy's ODR, which is given a start near the truth."""
    data = odr.Data(X.T, y=1)
    model = odr.Model(lambda beta, x: evaluated(x.T) @ np.append(beta, 1.0), implicit=True)
    return np.append(odr.ODR(data, model, beta0=START[:-1]).run().beta, 1.0)


def gradients(X):
    """Fit by Taubin's method: the smallest mean(g^2) with mean(|grad g|^2) = 1, raw."""
    A, zero, one = evaluated(X), np.zeros(len(X)), np.ones(len(X))
    x, y = X.T
    along_x = np.column_stack([zero, one, zero, 2 * x, y, zero])
    along_y = np.column_stack([zero, zero, one, zero, x, 2 * y])
    return eigh(along_x.T @ along_x + along_y.T @ along_y, A.T @ A)[1][:, -1]


def debiased(X):
    """Estimate the noise, take it out, fit to what is left."""
    moments = Moments(2, max_degree=3).update(X)
    noise = moments.estimate_noise()
    if np.isnan(noise):
        return np.full(6, np.nan)
    return conic(OAVI(1e-3, max_degree=2).fit_moments(moments.debiased(noise)))


def conic(model):
    """Return the six coefficients of the one conic of a model; nan where it has another."""
    if model.leading_terms_.tolist() != [[0, 2]]:
        return np.full(6, np.nan)
    return np.append(model.coef_[0], model.leading_coef_[0])


METHODS = {
    "least squares": least_squares,
    "total least squares": total_least_squares,
    "gradients": gradients,
    "ODR": orthogonal_distances,
    "debiased": debiased,
}


def errors(seeds, sizes=(1000, 10_000, 100_000), noises=(0.02, 0.05, 0.1, 0.2)):
    """Print mean errors of the coefficients and seconds, method beside method."""
    header = [*METHODS, *(f"{name}, s" for name in METHODS)]
    print(f"mean largest error of the coefficients and mean seconds over {seeds} seeds\n")
    print("| shape | rows | noise |", " | ".join(header), "|")
    print("| --- " * (3 + len(header)) + "|")
    for shape in SHAPES:
        for m in sizes:
            for noise in noises:
                found = {name: [] for name in METHODS}
                seconds = dict.fromkeys(METHODS, 0.0)
                for seed in range(seeds):
                    X, truth = sample(shape, m, noise, seed)
                    for name, method in METHODS.items():
                        if name == "ODR" and m > ODR_ROWS:
                            continue
                        start = time.perf_counter()
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            coef = method(X)
                        seconds[name] += time.perf_counter() - start
                        found[name].append(np.abs(coef / coef[-1] - truth).max())
                cells = [written(values) for values in found.values()]
                cells += [
                    f"{seconds[name] / len(v):.2g}" if v else "-" for name, v in found.items()
                ]
                print(f"| {shape} | {m} | {noise} |", " | ".join(cells), "|", flush=True)


def written(values):
    """Write a mean, and how many of the values are missing."""
    if not values:
        return "-"
    missing = int(np.isnan(values).sum())
    mean = "-" if missing == len(values) else f"{np.nanmean(values):.2g}"
    return mean + (f" ({missing} none)" if missing else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["cost", "errors"], help="cost, errors")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    arguments = parser.parse_args()
    if "cost" in arguments.what:
        cost()
    if "errors" in arguments.what:
        errors(arguments.seeds, arguments.rows)


if __name__ == "__main__":
    main()
