"""Noise: errors of coefficients beside other fits.

The mean largest error of a conic's coefficients (that of x1^2 scaled to 1) by the number of rows
and the noise, and seconds per fit.

    python benchmarks/studies/noise.py [--seeds 10] [--rows 1000 10000]
"""

import argparse
import time
import warnings

import numpy as np
from scipy.linalg import eigh

from vanishing import OAVI, Moments

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # SciPy moves it to a package of its own
    from scipy import odr

SHAPES = ("half circle", "ellipse")
ODR_ROWS = 10_000  # at most: a hundred thousand take minutes
START = np.array([-0.8, 0.1, 0.1, 0.8, 0.1, 1.0])  # of what iterates: about the truth


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
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    arguments = parser.parse_args()
    errors(arguments.seeds, arguments.rows)


if __name__ == "__main__":
    main()
