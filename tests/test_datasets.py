import gzip
import os

import numpy as np
import pytest

from vanishing import datasets

NAMES = ["bank", "credit", "htru", "seeds", "skin", "spam"]
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
def no_environment(monkeypatch):
    monkeypatch.delenv("VANISHING_DATA", raising=False)


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
    assert bunch.filename == str(path)


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


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="'iris'.*" + ", ".join(NAMES)):
        datasets.load("iris")


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
        ((3, 2), np.nan, "NaN"),
        ((3, 2), np.inf, "infinite"),
        ((0, 7), 3, r"0, \.\.\., 2"),
        ((0, 7), 0.5, r"0, \.\.\., 2"),
        (np.s_[140:, 7], 1, r"0, \.\.\., 2"),
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
        (seeds_table(), (*FEATURES[1:], "class"), "header of 7 names"),
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
    with pytest.raises(ValueError, match=r"seeds\.csv\.gz cannot be read"):
        datasets.load("seeds", data_home=tmp_path)


@pytest.mark.skipif(not REAL_DATA, reason="VANISHING_DATA does not name the folder of the files")
@pytest.mark.parametrize("name", NAMES)
def test_the_real_files(name):
    bunch = datasets.load(name, data_home=REAL_DATA)
    assert bunch.data.shape[1] == len(bunch.feature_names)
    assert len(np.unique(bunch.target)) == len(bunch.target_names)
