"""Points moved onto the zeros of equations."""

import numpy as np

from vanishing.fitting.projection import project


def circle(points):
    values = np.square(points).sum(axis=1, keepdims=True) - 1.0
    return values, 2.0 * points[:, np.newaxis, :]


def white(n_rows, *std):
    return np.tile(np.diag(1.0 / np.array(std)), (n_rows, 1, 1))


def test_linear_equations_have_the_closed_form():
    rng = np.random.default_rng(0)
    J, mean = rng.normal(size=(2, 4)), rng.normal(size=(50, 4))
    std, slack = np.array([0.1, 0.5, 1.0, 2.0]), np.diag([1e-4, 0.3])

    def planes(points):
        return points @ J.T - [1.0, 2.0], np.tile(J, (len(points), 1, 1))

    answer = project(planes, mean, white(50, *std), np.tile(slack, (50, 1, 1)), np.ones((50, 2)))
    D = np.diag(std**2)
    S = J @ D @ J.T + slack
    off = mean @ J.T - [1.0, 2.0]
    assert np.allclose(answer.points, mean - off @ np.linalg.solve(S, J @ D))
    assert np.allclose(answer.covariance, D - D @ J.T @ np.linalg.solve(S, J @ D))
    assert np.allclose(answer.distance, np.sum(off * np.linalg.solve(S, off.T).T, axis=1))
    assert np.allclose(answer.log_size, np.linalg.slogdet(S)[1])
    assert answer.converged.all()


def test_points_go_to_the_nearest_point_of_a_circle():
    angle = np.linspace(0, 6, 40)
    u = np.column_stack([np.cos(angle), np.sin(angle)])
    mean = u * np.linspace(0.3, 3.0, 40)[:, np.newaxis]
    slack, size = np.full((40, 1, 1), 1e-16), np.full((40, 1), 1e-12)
    answer = project(circle, mean, white(40, 1.0, 1.0), slack, size)
    assert np.abs(answer.points - u).max() < 1e-5
    along = np.column_stack([-u[:, 1], u[:, 0]])
    # To first order nothing is left of the error across the circle.
    across = np.einsum("mi,mij,mj->m", u, answer.covariance, u)
    assert across.max() < 1e-10
    assert np.allclose(np.einsum("mi,mij,mj->m", along, answer.covariance, along), 1.0)


def test_an_exact_column_stays_where_it_is():
    mean = np.array([[0.6, 0.7], [0.6, -0.7]])
    slack, size = np.full((2, 1, 1), 1e-18), np.full((2, 1), 1e-14)
    answer = project(circle, mean, white(2, 1e-9, 10.0), slack, size)
    assert np.allclose(answer.points, [[0.6, 0.8], [0.6, -0.8]], atol=1e-7)


def test_an_equation_that_is_not_defined_leaves_the_row():
    def root(points):
        with np.errstate(invalid="ignore"):
            value = np.sqrt(points[:, :1]) - points[:, 1:]
            slope = np.concatenate([0.5 / np.sqrt(points[:, :1]), -np.ones((len(points), 1))], 1)
        return value, slope[:, np.newaxis]

    mean = np.array([[4.0, 2.1], [-1.0, 2.0]])
    answer = project(root, mean, white(2, 0.1, 0.1), np.full((2, 1, 1), 1e-8), np.ones((2, 1)))
    assert answer.converged.tolist() == [True, False]
    assert np.isfinite(answer.points).all() and np.isfinite(answer.distance).all()
