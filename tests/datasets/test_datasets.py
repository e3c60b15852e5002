import gzip
import http.client
import os
import sys
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from vanishing import OAVI, datasets
from vanishing.datasets import openml
from vanishing.datasets.registry import DATASETS
from vanishing.datasets.varieties import as_polynomials
from vanishing.polynomials import Polynomial

NAMES = ["bank", "credit", "htru", "seeds", "skin", "spam"]
SHAPES = [(1372, 4), (30000, 22), (17898, 8), (210, 7), (245057, 3), (4601, 57)]
FEATURES = ["area", "perimeter", "char_freq_#", "a", "b", "c", "d"]


def seeds_table():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=(210, 7)), np.repeat([0, 1, 2], 70)])


def write(path, table, header=(*FEATURES, "class")):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as file:
        np.savetxt(file, table, delimiter=",", header=",".join(header), comments="", fmt="%.17g")
    return path


REAL_DATA = os.environ.get("VANISHING_DATA")


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch):
    """No folder in the environment, and no network."""
    monkeypatch.delenv("VANISHING_DATA", raising=False)
    monkeypatch.setattr(openml, "fetch_openml", failing(URLError("no network")))


def failing(error):
    def fetch_openml(**parameters):
        raise error

    return fetch_openml


# Names of the features on OpenML, name of the target, label of the first class.
ON_OPENML = {
    "bank": ([f"V{i}" for i in range(1, 5)], "Class", 1),
    "credit": ([f"x{i}" for i in range(1, 24)], "y", 0),
    "htru": ([f"f{i}" for i in range(8)], "Class", 0),
    "seeds": ([f"V{i}" for i in range(1, 8)], "Class", 1),
    "skin": (["V1", "V2", "V3"], "Class", 1),
    "spam": ([f"f{i}" for i in range(57)], "class", 0),
}


def on_openml(name, **changes):
    """What fetch_openml(as_frame=False, parser="liac-arff") would give, with other values."""
    expected = DATASETS[name]
    columns, target_name, first = ON_OPENML[name]
    rng = np.random.default_rng(0)
    label = rng.permutation(
        np.repeat(range(len(expected.classes)), list(expected.classes.values()))
    )
    data = rng.normal(size=(len(label), len(columns)))
    data[:, len(columns) - expected.n_features] = np.asarray(expected.first_means)[label]
    bunch = Bunch(
        data=data,
        target=(label + first).astype(str).astype(object),
        feature_names=columns,
        target_names=[target_name],
        categories={target_name: [str(first + i) for i in range(len(expected.classes))]},
        frame=None,
        DESCR="...",
    )
    bunch.update(changes)
    return bunch


def serve(monkeypatch, bunch):
    """Let fetch_openml return a bunch, and note the calls."""
    calls = []

    def fetch_openml(**parameters):
        calls.append(parameters)
        return bunch

    monkeypatch.setattr(openml, "fetch_openml", fetch_openml)
    return calls


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv"])
def test_reads_what_was_written(tmp_path, suffix):
    table = seeds_table()
    path = write(tmp_path / f"seeds{suffix}", table)
    bunch = datasets.load("seeds", data_home=tmp_path)
    np.testing.assert_array_equal(bunch.data, table[:, :-1])
    np.testing.assert_array_equal(bunch.target, table[:, -1])
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == FEATURES
    assert len(bunch.target_names) == 3
    assert "210 rows, 7 features, 3 classes" in bunch.DESCR
    assert "Charytanowicz" in bunch.citation
    assert bunch.filename == str(path)
    assert bunch.url is None


def test_a_file_needs_pandas(tmp_path, monkeypatch):
    write(tmp_path / "seeds.csv.gz", seeds_table())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"need pandas: install .*\.\[app\]"):
        datasets.load("seeds", data_home=tmp_path)


def test_return_X_y(tmp_path):
    table = seeds_table()
    write(tmp_path / "seeds.csv", table)
    X, y = datasets.load("seeds", data_home=str(tmp_path), return_X_y=True)
    np.testing.assert_array_equal(np.column_stack([X, y]), table)


def test_data_home_comes_before_the_environment(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    for place, value in [(first, 1.0), (second, 2.0)]:
        place.mkdir()
        table = seeds_table()
        table[0, 0] = value
        write(place / "seeds.csv.gz", table)
    monkeypatch.setenv("VANISHING_DATA", str(second))
    assert datasets.load("seeds", data_home=first).data[0, 0] == 1.0
    assert datasets.load("seeds").data[0, 0] == 2.0
    assert datasets.load("seeds", data_home=tmp_path).data[0, 0] == 2.0


@pytest.mark.parametrize("name", ["iris", "Seeds", "", None, ["seeds"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="Unknown data set .*" + ", ".join(NAMES)):
        datasets.load(name)


def test_return_X_y_is_a_flag(tmp_path):
    write(tmp_path / "seeds.csv", seeds_table())
    with pytest.raises(TypeError, match="return_X_y must be True or False; got 'yes'"):
        datasets.load("seeds", data_home=tmp_path, return_X_y="yes")


def test_absent_file_says_where_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("VANISHING_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("bank", data_home=tmp_path)
    for part in ["bank.csv.gz", f"{tmp_path}, ", "elsewhere", "data_home", "VANISHING_DATA"]:
        assert part in str(caught.value)


@pytest.mark.parametrize("environment", [None, ""])
def test_an_empty_environment_variable_is_no_place(tmp_path, monkeypatch, environment):
    if environment is not None:
        monkeypatch.setenv("VANISHING_DATA", environment)
    # An empty value must not be read as the current folder.
    write(tmp_path / "seeds.csv", seeds_table())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"No folder was given.*data_home.*VANISHING_DATA"):
        datasets.load("seeds")


@pytest.mark.parametrize(
    ("where", "value", "problem"),
    [
        ((3, 2), np.nan, "line 5, column 'char_freq_#': 'nan' is not a finite number"),
        ((3, 2), np.inf, "line 5, column 'char_freq_#': 'inf' is not a finite number"),
        ((0, 7), 3, r"0, \.\.\., 2"),
        ((0, 7), 0.5, r"0, \.\.\., 2"),
        (np.s_[140:, 7], 1, r"0, \.\.\., 2"),
        ((0, 7), 1, r"expected \[70, 70, 70\] rows of the classes, found \[69, 71, 70\]"),
    ],
)
def test_wrong_values_are_refused(tmp_path, where, value, problem):
    table = seeds_table()
    table[where] = value
    path = write(tmp_path / "seeds.csv", table)
    with pytest.raises(ValueError, match=problem) as caught:
        datasets.load("seeds", data_home=tmp_path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("table", "header", "problem"),
    [
        (seeds_table()[:-1], (*FEATURES, "class"), "expected 210 rows"),
        (seeds_table()[:, 1:], (*FEATURES[1:], "class"), "8 columns"),
        (seeds_table(), (*FEATURES[1:], "class"), "line 2 has 8 fields, but there are 7 names"),
        (seeds_table(), (*FEATURES, "label"), "'label', not 'class'"),
    ],
)
def test_another_table_is_refused(tmp_path, table, header, problem):
    path = write(tmp_path / "seeds.csv", table, header)
    with pytest.raises(ValueError, match=problem) as caught:
        datasets.load("seeds", data_home=tmp_path)
    assert str(path) in str(caught.value)


def damage_not_gzip(content):
    return b"area,class\n" + content


def damage_truncated(content):
    return content[: len(content) // 2]


def damage_flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes(255 - byte for byte in content[middle : middle + 64])


def damage_text(content):
    return gzip.compress(gzip.decompress(content).replace(b",", b",?", 9))


@pytest.mark.parametrize("damage", [damage_not_gzip, damage_truncated, damage_flipped, damage_text])
def test_corrupted_file_is_named(tmp_path, damage):
    path = write(tmp_path / "seeds.csv.gz", seeds_table())
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"seeds\.csv\.gz( cannot be read|, line 2, column)"):
        datasets.load("seeds", data_home=tmp_path)


@pytest.mark.skipif(not REAL_DATA, reason="VANISHING_DATA does not name the folder of the files")
@pytest.mark.parametrize("name", NAMES)
def test_the_real_files(name):
    expected = DATASETS[name]
    bunch = datasets.load(name, data_home=REAL_DATA)
    assert bunch.data.shape == (expected.n_samples, expected.n_features)
    # What is checked of a download, and the names it gets, are those of the files.
    assert bunch.feature_names == list(expected.feature_names)
    means = [bunch.data[bunch.target == label, 0].mean() for label in range(len(expected.classes))]
    np.testing.assert_allclose(means, expected.first_means, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("name", "shape"), list(zip(NAMES, SHAPES, strict=True)))
def test_what_is_told_of_a_data_set(name, shape):
    expected = DATASETS[name]
    assert (expected.n_samples, expected.n_features) == shape
    for part in [
        expected.title,
        f"{expected.n_samples} rows, {expected.n_features} features",
        *expected.feature_names,
        *(f"{label}: {count}" for label, count in expected.classes.items()),
        f"https://archive.ics.uci.edu/dataset/{expected.uci_id}",
        expected.citation,
    ]:
        assert part in expected.description
    assert "UCI Machine Learning Repository. https://doi.org/10.24432/C5" in expected.citation


@pytest.mark.parametrize("name", NAMES)
def test_a_download_gets_the_columns_and_classes_of_the_files(tmp_path, monkeypatch, name):
    source = on_openml(name)
    calls = serve(monkeypatch, source)
    # Neither a folder without the file nor an absent one ends the search.
    monkeypatch.setenv("VANISHING_DATA", str(tmp_path / "absent"))
    bunch = datasets.load(name, data_home=tmp_path)
    expected = DATASETS[name]
    assert [call["data_id"] for call in calls] == [expected.openml_id]
    assert "data_home" not in calls[0]
    np.testing.assert_array_equal(bunch.data, source.data[:, -expected.n_features :])
    np.testing.assert_array_equal(bunch.target, source.target.astype(int) - ON_OPENML[name][2])
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == list(expected.feature_names)
    assert bunch.target_names == list(expected.classes)
    assert bunch.filename is None
    assert bunch.url == f"https://www.openml.org/d/{expected.openml_id}"
    assert list(tmp_path.iterdir()) == []


def test_a_local_file_is_preferred_to_a_download(tmp_path, monkeypatch):
    calls = serve(monkeypatch, on_openml("seeds"))
    write(tmp_path / "seeds.csv", seeds_table())
    monkeypatch.setenv("VANISHING_DATA", str(tmp_path))
    datasets.load("seeds")
    assert calls == []


def test_a_wrong_local_file_is_not_passed_over(tmp_path, monkeypatch):
    calls = serve(monkeypatch, on_openml("seeds"))
    write(tmp_path / "seeds.csv", seeds_table()[1:])
    with pytest.raises(ValueError, match=r"seeds\.csv does not hold the data set"):
        datasets.load("seeds", data_home=tmp_path)
    assert calls == []


def test_numeric_labels_and_nominal_features_of_a_download(monkeypatch):
    source = on_openml("credit")
    plain = source.data.copy()
    # x3 takes the values 7, 5, 6 and comes as places in the list of them.
    place = np.arange(len(plain)) % 3
    plain[:, 2] = np.array([7.0, 5.0, 6.0])[place]
    source.data[:, 2] = place
    source.categories["x3"] = ["7", "5", "6"]
    source.target = source.target.astype(float)
    serve(monkeypatch, source)
    X, y = datasets.load("credit", return_X_y=True)
    np.testing.assert_array_equal(X, plain[:, 1:])
    np.testing.assert_array_equal(y, source.target)


def test_an_id_column_of_a_download_is_dropped(monkeypatch):
    source = on_openml("credit")
    source.feature_names = ["ID", *source.feature_names]
    source.data = np.column_stack([np.arange(30000), source.data])
    serve(monkeypatch, source)
    assert datasets.load("credit").data.shape == (30000, 22)


def swapped(bunch):
    return {"target": np.where(bunch.target == "1", "2", np.where(bunch.target == "2", "1", "3"))}


def with_nan(bunch):
    bunch.data[5, 3] = np.nan
    return {"data": bunch.data}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda b: {"data": b.data[1:], "target": b.target[1:]}, "expected 210 rows"),
        (lambda b: {"data": b.data[:, 1:], "feature_names": b.feature_names[1:]}, "7 features"),
        (lambda b: {"target": b.target[1:]}, r"labels of shape \(209,\)"),
        (lambda b: {"target": None}, r"labels of shape \(\)"),
        (lambda b: {"target": np.repeat(["1", "2", "3"], [71, 69, 70])}, r"found \[71, 69, 70\]"),
        (lambda b: {"target": np.repeat(["1", "2"], 105)}, r"found \[105, 105\]"),
        (lambda b: {"target": np.repeat(["a", "b", "c"], 70)}, "not numbers"),
        (lambda b: {"data": b.data.astype(str).astype(object) + "?"}, "not numbers"),
        (with_nan, "NaN"),
        (swapped, "means of the first column"),
        (lambda b: {"data": b.data[:, ::-1]}, "means of the first column"),
    ],
)
def test_another_download_is_refused(monkeypatch, change, problem):
    source = on_openml("seeds")
    serve(monkeypatch, on_openml("seeds", **change(source)))
    with pytest.raises(ValueError, match=problem) as caught:
        datasets.load("seeds")
    assert "OpenML's data set 1499" in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        URLError("no network"),
        TimeoutError("timed out"),
        HTTPError("https://www.openml.org", 503, "busy", None, None),
        ConnectionResetError("reset"),
        http.client.IncompleteRead(b"part"),
        PermissionError("the cache cannot be written"),
    ],
)
def test_offline_is_one_error_that_says_what_to_do(tmp_path, monkeypatch, error):
    monkeypatch.setattr(openml, "fetch_openml", failing(error))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("bank", data_home=tmp_path)
    assert caught.value.__cause__ is error
    for part in [str(tmp_path), "bank.csv.gz", "OpenML's data set 1462", "connect", "data_home"]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("md5 checksum of local file does not match description"),
        gzip.BadGzipFile("not a gzipped file"),
        EOFError("ended early"),
        KeyError("data_features"),
    ],
)
def test_an_unreadable_download_is_a_value_error(monkeypatch, error):
    monkeypatch.setattr(openml, "fetch_openml", failing(error))
    with pytest.raises(ValueError, match=r"OpenML's data set 1462 cannot be read.*cache") as caught:
        datasets.load("bank")
    assert caught.value.__cause__ is error


def circle(X):
    return X[:, 0] ** 2 + X[:, 1] ** 2 - 1


def test_circle_and_sphere_have_their_radius():
    X = datasets.make_circle(50, radius=3.0, random_state=0)
    assert X.shape == (50, 2)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 3.0, rtol=1e-14)
    for n_features in [1, 2, 5]:
        X = datasets.make_sphere(60, n_features=n_features, radius=0.1, random_state=0)
        assert X.shape == (60, n_features)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 0.1, rtol=1e-14)


def test_circle_and_sphere_are_uniform():
    X = datasets.make_sphere(40_000, random_state=0)
    # On a sphere in three dimensions, every coordinate is uniform (Archimedes).
    for coordinate in X.T:
        counts, _ = np.histogram(coordinate, bins=10, range=(-1, 1))
        np.testing.assert_allclose(counts, 4000, atol=300)
    X = datasets.make_circle(40_000, random_state=0)
    counts, _ = np.histogram(np.arctan2(*X.T), bins=10, range=(-np.pi, np.pi))
    np.testing.assert_allclose(counts, 4000, atol=300)


def test_two_surfaces():
    X, y = datasets.make_two_surfaces(1001, noise=0.0, random_state=0)
    assert X.shape == (1001, 3)
    assert np.bincount(y).tolist() == [501, 500]
    assert 300 < y[:700].sum() < 400  # in random order
    x0, x1, x2 = X.T
    first, second = x0**2 + 0.01 * x1 + x2**2 - 1, x0**2 + x2**2 - 1.3
    assert np.abs(first[y == 0]).max() < 1e-14
    assert np.abs(second[y == 1]).max() < 1e-14
    assert np.abs(first[y == 1]).min() > 0.2


MAKERS = [
    lambda n, **options: datasets.make_circle(n, **options),
    lambda n, **options: datasets.make_sphere(n, **options),
    lambda n, **options: datasets.make_two_surfaces(n, **{"noise": 0.0, **options})[0],
    lambda n, **options: datasets.make_variety("x0^2 + x1^2 = 1", n, **options),
]


@pytest.mark.parametrize("make", MAKERS)
def test_noise_has_the_scale_asked_for(make):
    exact = make(5000, random_state=3)
    noise = make(5000, noise=0.3, random_state=3) - exact
    np.testing.assert_allclose(noise.std(axis=0), 0.3, rtol=0.05)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.02)


def test_two_surfaces_are_noisy_by_default():
    exact, y = datasets.make_two_surfaces(5000, noise=0.0, random_state=3)
    X, same = datasets.make_two_surfaces(5000, random_state=3)
    np.testing.assert_array_equal(y, same)
    np.testing.assert_allclose((X - exact).std(axis=0), 0.05, rtol=0.05)


@pytest.mark.parametrize("make", MAKERS)
def test_random_state_determines_the_points(make):
    np.testing.assert_array_equal(make(20, random_state=1), make(20, random_state=1))
    assert not np.array_equal(make(20, random_state=1), make(20, random_state=2))
    same = make(20, random_state=np.random.RandomState(1))
    np.testing.assert_array_equal(make(20, random_state=1), same)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"n": 0}, ValueError),
        ({"n": -3}, ValueError),
        ({"n": 10.0}, TypeError),
        ({"n": True}, TypeError),
        ({"noise": -0.1}, ValueError),
        ({"noise": np.nan}, ValueError),
        ({"noise": np.inf}, ValueError),
        ({"noise": "0.1"}, TypeError),
        ({"random_state": "seed"}, ValueError),
    ],
)
def test_wrong_numbers_are_refused(make, options, error):
    with pytest.raises(error, match=r"n_samples|noise|seed"):
        make(**{"n": 10, **options})


@pytest.mark.parametrize("options", [{"radius": 0}, {"radius": -1.0}, {"radius": np.inf}])
def test_a_radius_is_positive(options):
    for make in (datasets.make_circle, datasets.make_sphere):
        with pytest.raises(ValueError, match="radius must be a number in"):
            make(**options)
    with pytest.raises(ValueError, match="n_features must be an integer"):
        datasets.make_sphere(n_features=0)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_oavi_finds_the_circle(noise):
    X = datasets.make_circle(noise=noise, random_state=0)
    generators = OAVI(psi=max(noise**2 * 5, 1e-10), oracle="omp", max_degree=2).fit(X).generators_
    assert len(generators) == 1
    (g,) = generators
    assert g.terms.tolist() == [[0, 0], [2, 0], [0, 2]]
    np.testing.assert_allclose(g.coef, [-1, 1, 1], atol=1e-10 + noise)


VARIETIES = {
    "circle": ("x0^2 + x1^2 = 1", [circle]),
    "lemniscate": (
        "(x0**2 + x1**2)**2 = x0**2 - x1**2",
        [lambda X: (X**2).sum(axis=1) ** 2 - X[:, 0] ** 2 + X[:, 1] ** 2],
    ),
    "twisted cubic": (
        ["x1 = x0^2", "x2 = x0^3"],
        [lambda X: X[:, 1] - X[:, 0] ** 2, lambda X: X[:, 2] - X[:, 0] ** 3],
    ),
    "cross": ("x0*x1", [lambda X: X[:, 0] * X[:, 1]]),
    "cusp": ("x0^3 - x1^2", [lambda X: X[:, 0] ** 3 - X[:, 1] ** 2]),
    "double line": ("(x0 - x1)^2", [lambda X: (X[:, 0] - X[:, 1]) ** 2]),
    "the same twice": (["x0^2 + x1^2 - 1", "3 == 3*x0^2 + 3*x1^2"], [circle]),
    "four points": (["x0^2 = 0.25", "x1^2 = 0.25"], [lambda X: np.abs(X) - 0.5]),
    "a face of the box": ("x0 = 1", [lambda X: X[:, 0] - 1]),
    "small coefficients": ("1e-200*x0^2 = 1e-200*x1", [lambda X: X[:, 0] ** 2 - X[:, 1]]),
}


@pytest.mark.parametrize("name", VARIETIES)
def test_points_of_a_variety_satisfy_its_equations(name):
    equations, functions = VARIETIES[name]
    X = datasets.make_variety(equations, 1234, random_state=0)
    assert len(X) == 1234
    assert np.abs(X).max() <= 1 + 1e-8
    for function in functions:
        assert np.abs(function(X)).max() < 1e-12


def test_a_variety_is_covered():
    X = datasets.make_variety("x0^2 + x1^2 = 1", 2000, random_state=0)
    counts, _ = np.histogram(np.arctan2(*X.T), bins=16, range=(-np.pi, np.pi))
    assert counts.min() > 40
    X = datasets.make_variety(["x0^2 = 0.25", "x1^2 = 0.25"], 400, random_state=0)
    assert len(np.unique(X.round(6), axis=0)) == 4


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 50.0, 1e6])
def test_accuracy_goes_with_the_size_of_the_box(scale):
    X = datasets.make_variety(
        f"x0^2 + x1^2 = {scale**2:.17g}", 100, box=(-2 * scale, 2 * scale), random_state=0
    )
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), scale, rtol=1e-12)


def test_points_lie_in_the_box():
    # Many starting points of this box are nearest to a point of the circle outside it.
    X = datasets.make_variety("x0^2 + x1^2 = 1", 500, box=(0.6, 1), random_state=0)
    assert X.min() >= 0.6 - 1e-8
    assert np.abs(circle(X)).max() < 1e-12


def test_box_of_each_variable():
    box = [(0, 1), (-1, 0), (3, 4)]
    X = datasets.make_variety("x0^2 + x1^2 = 1", 200, box=box, names=["x0", "x1", "x2"])
    for column, (low, high) in zip(X.T, box, strict=True):
        assert column.min() >= low - 1e-8
        assert column.max() <= high + 1e-8
        assert np.ptp(column) > 0.8
    assert np.abs(circle(X)).max() < 1e-12


def test_equations_of_all_kinds():
    polynomial = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0], feature_names=["a", "b c"])
    generators = OAVI(psi=1e-8, oracle="ls", max_degree=2).fit(datasets.make_circle()).generators_
    expected = datasets.make_variety("x0^2 + x1^2 = 1", 30, random_state=0)
    for equations in [polynomial, [polynomial], "1 = x1*x1 + x0**2", ("x0^2 + x1^2 - 1",)]:
        X = datasets.make_variety(equations, 30, random_state=0)
        np.testing.assert_allclose(X, expected, atol=1e-10)
    X = datasets.make_variety(generators, 30, random_state=0)
    np.testing.assert_allclose(X, expected, atol=1e-6)
    # A string beside a polynomial uses its names; a name that is no word stands in brackets.
    X = datasets.make_variety([polynomial, "a = [b c]"], 30, random_state=0)
    np.testing.assert_allclose(np.abs(X), np.sqrt(0.5), rtol=1e-12)
    X = datasets.make_variety(str(polynomial), 30, names=["a", "b c"], random_state=0)
    np.testing.assert_allclose(X, expected, atol=1e-10)


def read(text):
    """Left minus right side of an equation at x0 = 2, x1 = 3, x2 = 5, largest coefficient 1."""
    (polynomial,) = as_polynomials(text, None)
    return polynomial([[2.0, 3.0, 5.0][: polynomial.terms.shape[1]]])[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x0 + 0*x1", 2),
        ("-x0^2", -4),
        ("(-x0)^2", 4),
        ("x0 - x1 - 1", -2),
        ("x0 - (x1 - 1)", 0),
        ("x0*x1**2", 18),
        ("x0 +-- x1", 5),
        ("x0*-x1", -6),
        ("x0^0 * x1", 3),
        ("(x0 + x1)*(x0 - x1)", -5),
        ("(x0 - x1)^3", -1 / 3),
        ("x0 = x1", -1),
        (" x0\t== x1\n", -1),
        (".5*x0 + 1.*x1 - 1e0", 3),
        ("2.5e-1*x0 = 1E+0", -0.5),
        ("x0 - x0 + x1", 3),
        ("x0 - x0", 0),
        ("x2", 5),
    ],
)
def test_reading_equations(text, value):
    assert read(text) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "none of the variables"),
        ("1 = 0", "none of the variables"),
        ("y = 1", "none of the variables"),
        ("x0 + y", "'y' is not one of the variables x0"),
        ("x01", "'x01' is not one of the variables"),
        ("x0 +", "in place of 'the end'"),
        ("x0 * = 1", "in place of '='"),
        ("x0 x1", "'x1' is not expected"),
        ("2x0", "'x0' is not expected"),
        ("x0/2", "'/' is not expected"),
        ("x0 = 1 = x1", "'=' is not expected"),
        ("x0^2^2", "'\\^' is not expected"),
        ("(x0", "bracket is not closed"),
        ("x0)", "'\\)' is not expected"),
        ("x0^-1", "exponent must be an integer from 0 to 50, not '-'"),
        ("x0^1.5", "exponent must be an integer"),
        ("x0^x1", "exponent must be an integer"),
        ("x0**", "exponent must be an integer"),
        ("x0^51", "exponent must be an integer"),
        ("x0^99999999999999999999", "exponent must be an integer"),
        ("(x0^50)^50", "degree exceeds 50"),
        ("(x0 + x1 + x2 + x3 + x4 + 1)^50", "too many terms"),
        ("(" * 100_000 + "x0" + ")" * 100_000, "nested too deeply"),
        ("x123456", "more than 1000 variables"),
        ("1e999*x0", "must be finite"),
        ("__import__('os').system('true') + x0", "'__import__' is not one of the variables"),
        ("x0.real", "'.' is not expected"),
        ("[x0", "in place of '\\['"),
    ],
)
def test_what_is_no_polynomial_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        datasets.make_variety(text)


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"equations": []}, ValueError, "at least one"),
        ({"equations": 3}, TypeError, "string or a Polynomial; got int"),
        ({"equations": ["x0", None]}, TypeError, "got NoneType"),
        ({"names": ["x0"]}, ValueError, "'x1' is not one of the variables x0"),
        ({"names": ["x0", "x0"]}, ValueError, "different from each other"),
        ({"names": []}, ValueError, "different from each other"),
        ({"names": [0, 1]}, TypeError, "names must be strings"),
        ({"box": (1, -1)}, ValueError, "the smaller one first"),
        ({"box": (0, 0)}, ValueError, "box must be"),
        ({"box": 1}, ValueError, "box must be"),
        ({"box": (0, 1, 2)}, ValueError, "box must be"),
        ({"box": [(0, 1)] * 3}, ValueError, "each of the 2 variables"),
        ({"box": (-np.inf, 1)}, ValueError, "box must be"),
        ({"box": (-1.7e308, 1.7e308)}, ValueError, "box must be"),
        ({"box": ("a", "b")}, ValueError, "box must be"),
        ({"box": [(0, 1), (2,)]}, ValueError, "box must be"),
    ],
)
def test_wrong_parameters_of_a_variety(options, error, problem):
    with pytest.raises(error, match=problem):
        datasets.make_variety(**{"equations": "x0^2 + x1^2 = 1", **options})


def test_polynomials_must_have_the_same_variables():
    one, two = Polynomial([[1]], [1.0]), Polynomial([[1, 0]], [1.0])
    with pytest.raises(ValueError, match="has 2 variables, but there are 1 names"):
        datasets.make_variety([one, two])
    with pytest.raises(ValueError, match="must be finite"):
        datasets.make_variety(Polynomial([[1]], [np.nan]))


@pytest.mark.parametrize(
    ("equations", "options"),
    [
        ("x0^2 + x1^2 + 1 = 0", {}),
        ("x0^2 + x1^2 = 1", {"box": (5, 6)}),
        (["x0 = 0.1", "x0 = 0.2"], {}),
        ("1 = 0", {"names": ["x0"]}),
        ("x0^2 + x1^2 = 1e300", {"box": (-1e200, 1e200)}),
        ("x0^3 = x1^3 + 1", {"box": (-1e200, 1e200)}),
    ],
)
def test_an_empty_variety_is_an_error(equations, options):
    with pytest.raises(ValueError, match=r"found only 0 points of 7 after 1000 .*empty in the box"):
        datasets.make_variety(equations, 7, random_state=0, **options)


def test_an_equation_that_always_holds_leaves_the_box():
    X = datasets.make_variety("a = a", 1000, names=["a", "b"], random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(X.std(axis=0), 1 / np.sqrt(3), atol=0.03)


# -- The plant ------------------------------------------------------------------------------------


def test_plant_obeys_its_balances():
    from vanishing.datasets import make_plant
    from vanishing.datasets.plant import BALANCES
    from vanishing.outliers.lags import lagged, lagged_names

    run = make_plant(400, faults=(), noise=0.0, random_state=0)
    assert len(run.columns) == run.X.shape[1] == 20 and len(BALANCES) == 6
    names, rows = lagged_names(run.columns, 1), lagged(run.X, 1)[1:]
    values = {name: rows[:, i] for i, name in enumerate(names)}
    for balance in BALANCES:
        left, right = balance.split(" = ")
        text = "0 + " + right
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(name, f"v[{names.index(name)}]") if name in text else text
        by_place = [values[name] for name in names]
        assert np.allclose(values[left], eval(text, {"v": by_place}), rtol=1e-12)


def test_plant_faults_change_what_they_say():
    from vanishing.datasets import make_plant

    kinds = ("stuck", "offset", "drift", "leak", "unit")
    run = make_plant(1200, faults=kinds, fault_rows=50, noise=0.0, random_state=2)
    assert [fault.kind for fault in run.faults] == list(kinds)
    again = make_plant(1200, faults=kinds, fault_rows=50, noise=0.0, random_state=2)
    assert np.array_equal(run.X, again.X)
    stuck = run.faults[0]
    assert stuck.end - stuck.start == 49
    column = run.columns.index(stuck.columns[0])
    assert np.ptp(run.X[stuck.start : stuck.end + 1, column]) == 0.0
    leak = run.faults[3]
    total, first, second = (
        run.X[:, run.columns.index(name)]
        for name in {
            "mixed": ("mixed", "feed_a", "feed_b"),
            "bypass": ("outlet_1", "reactor", "bypass"),
            "product": ("reactor", "product", "vent"),
        }[leak.columns[0]]
    )
    off = np.abs(total - first - second)
    assert off[leak.start : leak.end + 1].min() > 0.3
    gaps = make_plant(500, faults=(), missing=0.1, random_state=0).X
    assert 0.08 < np.isnan(gaps).mean() < 0.12
    with pytest.raises(ValueError, match="have no room"):
        make_plant(300, fault_rows=100)
    with pytest.raises(ValueError, match="faults must be"):
        make_plant(faults=["fire"])
