import bz2
import csv
import gzip
import lzma
import random
import sys
import zipfile
from contextlib import ExitStack

import numpy as np
import pytest

from vanishing import Blocks
from vanishing.tables.csv_files import CsvTable
from vanishing.tables.errors import TableError
from vanishing.tables.files import FileLayout
from vanishing.tables.formats import open_table
from vanishing.tables.labels import classes_of, known_classes
from vanishing.tables.numbers import number_blocks

pd = pytest.importorskip("pandas")


@pytest.fixture(params=["pandas", "records"], autouse=True)
def reader_of_csv(request, monkeypatch):
    """Read CSV as it is read where lines are even, or uneven: the same tables and sentences."""
    if request.param == "records":
        monkeypatch.setattr(
            CsvTable,
            "_blocks",
            lambda self, places, _, rows: self._blocks_of_records(places, rows, 0),
        )


TEXT = "a,b,y\n1,2.5,p\n-3e2,4,q\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def read_columns(path, columns, target=None):
    blocks, labels = zip(*number_blocks(open_table(path), columns, target), strict=True)
    return pd.concat(blocks), None if target is None else np.concatenate(labels)


def read(path, target="y"):
    return read_columns(path, open_table(path).others([target]), target)


def check_is_the_table(path):
    X, labels = read(path)
    assert list(X.columns) == ["a", "b"]
    assert X.dtypes.tolist() == [np.float64, np.float64]
    np.testing.assert_array_equal(X, [[1.0, 2.5], [-300.0, 4.0]])
    assert labels.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    "name, compress",
    [
        ("t.csv", bytes),
        ("T.CSV", bytes),
        ("my.own.csv", bytes),
        ("t.csv.gz", gzip.compress),
        ("t.csv.bz2", bz2.compress),
        ("t.csv.xz", lzma.compress),
    ],
)
def test_csv_is_read_whatever_its_compression(write, name, compress):
    check_is_the_table(write(compress(TEXT.encode()), name))


def test_csv_in_a_zip_archive(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.csv", TEXT)
    check_is_the_table(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.csv", TEXT)
    with pytest.raises(TableError, match="holds 2 files, not one"):
        open_table(path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_seen_in_the_first_line(write, separator):
    check_is_the_table(write(TEXT.replace(",", separator)))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.removesuffix("\n"),
        TEXT.replace("\n", "\n\n"),
        TEXT.replace("2.5", " 2.5 "),
        '"a","b","y"\n"1",2.5,"p"\n-3e2,"4",q\n',
    ],
)
def test_what_other_programs_write_is_the_same_table(write, text):
    check_is_the_table(write(text))


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": [1, -300], "b": ["2.5", "4"], "y": pd.Categorical(["p", "q"])})
    frame.to_parquet(path)
    check_is_the_table(path)


def test_blocks_are_the_rows_in_order(write):
    path = write("a,y\n" + "".join(f"{i},c{i % 3}\n" for i in range(25)))
    blocks = list(number_blocks(open_table(path), ["a"], "y", rows=10))
    assert [len(X) for X, _ in blocks] == [10, 10, 5]
    np.testing.assert_array_equal(np.concatenate([X["a"] for X, _ in blocks]), np.arange(25))
    assert [label for _, labels in blocks for label in labels] == [f"c{i % 3}" for i in range(25)]


def test_columns_come_in_the_order_asked_for_and_others_may_hold_anything(write):
    path = write("a,b,text,b\n1,2,x,7\n3,4,,8\n")
    X, labels = read_columns(path, ["a"])
    assert labels is None
    X, _ = read_columns(write("a,b,text\n1,2,x\n3,4,\n"), ["b", "a"])
    np.testing.assert_array_equal(X, [[2, 1], [4, 3]])


@pytest.mark.parametrize(
    "text, problem",
    [
        ("a,b,y\n1,2,p\n3,x,q\n", "line 3, column 'b': 'x' is not a number."),
        ("a,b,y\n\n1,2,p\n\n\n3,x,q\n", "line 6, column 'b': 'x' is not a number."),
        ('a,b,y\n1,2,"p\np"\n3,x,q\n', "line 4, column 'b': 'x' is not a number."),
        ("a,b,y\n1,2,p\n3,,q\n", "line 3, column 'b': the cell is empty."),
        ("a,b,y\n1,2,p\n3\n", "line 3, column 'b': the cell is empty."),
        ("a,b,y\n1,2,p\n3,4,\n", "line 3, column 'y': the cell is empty."),
        ("a,b,y\n1,NA,p\n3,4,q\n", "line 2, column 'b': 'NA' is not a number."),
        ("a,b,y\n1,nan,p\n3,4,q\n", "line 2, column 'b': 'nan' is not a finite number."),
        ("a,b,y\n1,1e999,p\n3,4,q\n", "line 2, column 'b': 'inf' is not a finite number."),
        ("a;b;y\n1;2,5;p\n", "'2,5' is not a number (it has a comma; use a point)."),
        ("a,b,y\n1," + "9" * 200_000 + "z,p\n", "'" + "9" * 40 + "...' is not a number."),
        ("a,a,y\n1,2,p\n", "has 2 columns with the name 'a'."),
        (",a,y\n0,1,p\n", "Column 1 of "),
        ("a,b,z\n1,2,p\n", "has no column 'y'; its columns are 'a', 'b', 'z'."),
        ("a,b,y\n1,2,p\n3,4,q,5\n", "line 3 has 4 fields, but there are 3 names."),
        ("a,b,y\n1,2,p,6\n3,4,q,5\n", "line 2 has 4 fields, but there are 3 names."),
        ('a,b,y\n1,"2,p\n3,4,q\n', "EOF inside string"),
        ("a,b,y\n", "has no rows."),
        ("", "is empty."),
        (" \n\n", "is empty."),
        (b"a,b,y\n1,2,\xff\n", "is not text in UTF-8"),
        (b"a,b\0,y\n1,2,3\n", "is not text."),
        (b"a,b,y\n" + b"1,2,3\n" * 200_000 + b"1,2,\0\n", "is not text."),
        (random.Random(0).randbytes(5000), "is not text in UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(write, text, problem):
    path = write(text)
    with pytest.raises(TableError) as raised:
        read(path)
    assert str(path) in str(raised.value)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_line_is_right_in_later_blocks(write):
    path = write("a,y\n" + "1,p\n" * 25 + "?,p\n")
    with pytest.raises(TableError, match="line 27, column 'a'"):
        list(number_blocks(open_table(path), ["a"], "y", rows=10))


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("1_000", None),
        ("\u0661", None),
        ("0x10", None),
        ("1e-320", 1e-320),
        ("0.1000000000000000055511151231257827", 0.1),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
        ("-.5E+1", -5.0),
        ("True", 1.0),
        ("false", 0.0),
    ],
)
def test_what_is_a_number(write, text, numbers):
    path = write(f"a\n{text}\n")
    if numbers is None:
        with pytest.raises(TableError, match=f"'{text}' is not a number"):
            read_columns(path, ["a"])
    else:
        assert read_columns(path, ["a"])[0].to_numpy().tolist() == [[numbers]]


def test_true_among_numbers_is_none(write):
    with pytest.raises(TableError, match="line 3, column 'a': 'True' is not a number"):
        read_columns(write("a\n1\nTrue\n"), ["a"])


def test_the_index_of_a_frame_is_no_column(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": ["p", "q"]}, index=pd.Index([7, 8], name="id"))
    frame.to_parquet(path)
    assert open_table(path).names == ["a", "y"]
    np.testing.assert_array_equal(read(path)[0], [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("name", "package"),
    [("t.csv", "pandas"), ("t.parquet", "pyarrow.parquet"), ("t.xlsx", "openpyxl")],
)
def test_packages_that_read_files_are_asked_for(write, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    needed = package.partition(".")[0]
    with pytest.raises(ImportError, match=rf"need {needed}: install .*\.\[app\]"):
        open_table(write(TEXT, name))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zip"])
def test_damaged_archives(write, name):
    with pytest.raises(TableError, match=r"damaged|cannot be read"):
        open_table(write(TEXT, name))


def test_a_truncated_archive(write):
    content = gzip.compress(np.random.default_rng(0).bytes(10_000).hex().encode())
    with pytest.raises(TableError, match="is damaged"):
        read(write(content[:5000], "t.csv.gz"))


def test_files_that_are_no_tables(tmp_path, write):
    for path, problem in [
        (tmp_path / "nothing.csv", "There is no file "),
        (tmp_path, "is a folder, not a file."),
        (write(TEXT, "t.xlsx"), "is damaged"),
        (write(TEXT, "t.doc"), "is of no known kind"),
        (write(TEXT, "t"), "is of no known kind"),
    ]:
        with pytest.raises(TableError, match=problem):
            open_table(path)


def test_parquet_files_that_cannot_be_used(tmp_path, write):
    pytest.importorskip("pyarrow")
    with pytest.raises(TableError, match=r"t\.parquet cannot be read: "):
        open_table(write(TEXT, "t.parquet"))
    path = tmp_path / "p.parquet"
    for values, problem in [
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "row 1, column 'a': '2020-01-01 00:00:00'"),
        ([[1.0], [2.0]], "column 'a' of .* holds list"),
        ([1.0, np.inf], "row 2, column 'a': 'inf' is not a finite number"),
        (pd.array([1, None], dtype="Int64"), "row 2, column 'a': the cell is empty"),
        (["1", "x"], "row 2, column 'a': 'x' is not a number"),
    ]:
        pd.DataFrame({"a": values, "y": ["p", "q"]}).to_parquet(path)
        with pytest.raises(TableError, match=f"(?i){problem}"):
            read(path)


@pytest.mark.parametrize(
    "labels, kind",
    [
        (["0", "1"], "i"),
        (["-1", "1"], "i"),
        (["0.0", "1.0"], "f"),
        (["00", "01"], "O"),
        (["1", "1.0"], "O"),
        (["1_000", "2"], "O"),
        (["nan", "inf"], "O"),
        (["None", "NA"], "O"),
        (["9" * 40, "1"], "O"),
        (["True", "False"], "O"),
        (["été", " x"], "O"),
    ],
)
def test_labels_keep_their_text(labels, kind):
    classes = classes_of(labels, "y")
    assert classes.dtype.kind == kind
    assert [str(label) for label in classes.tolist()] == labels


@pytest.mark.parametrize("labels", [["0.5", "1.0"], ["1", "0.50"]])
def test_measurements_are_no_labels(labels):
    with pytest.raises(TableError, match=r"Column 'y' holds numbers such as 0\.5, not classes"):
        classes_of(labels, "y")


def test_labels_of_a_file_are_the_classes_of_a_model():
    labels = np.array(["1", "0"], dtype=object)
    np.testing.assert_array_equal(known_classes(labels, np.array([0, 1]), "y"), [1, 0])
    with pytest.raises(TableError, match="label '1', which is no class of the model"):
        known_classes(labels, np.array(["0", "x"], dtype=object), "y")


# -- Names ----------------------------------------------------------------------------------------


def test_a_line_of_names_may_be_long(write):
    names = [f"col{i:06}" for i in range(120_000)]
    path = write(",".join(names) + "\n" + "1," * 119_999 + "2\n")
    assert path.stat().st_size > 1 << 20
    assert open_table(path).names == names
    X, _ = read_columns(path, ["col000000", "col119999"])
    assert X.to_numpy().tolist() == [[1.0, 2.0]]


TITLED = "Laboratory 3, March;;\nby hand\n\np;V;T\n1,5;2;3\n2,5;3;4\n3,5;4;5\n"


@pytest.mark.parametrize(
    ("text", "names", "line"),
    [
        (TITLED, ["p", "V", "T"], 4),
        ("# dry\nGases\np,V\n1,2\n3,4\n", ["p", "V"], 3),
        ("Gases,,,\np,V,T,\n1,2,3,\n3,4,5,\n", ["p", "V", "T", ""], 2),
        ('"Gases\nof 2024"\np,V\n1,2\n3,4\n', ["p", "V"], 3),
        ('Gases\nin March, dry\n"p";"V"\n"1,5";"2,5"\n"3,5";"4,5"\n', ["p", "V"], 3),
        # A title over all columns, or headings of groups of them.
        ("Gases,Gases,Gases\np,V,T\n1,2,3\n3,4,5\n", ["p", "V", "T"], 2),
        ("Gases,,,March\np,V,T,n\n1,2,3,4\n3,4,5,6\n", ["p", "V", "T", "n"], 2),
        ("Lab 3\nin,,out,\np1,T1,p2,T2\n1,2,3,4\n3,4,5,6\n", ["p1", "T1", "p2", "T2"], 3),
        # The first line has the names, though some have none or lines below are longer.
        ("p,p\nx,y\nz,w\n", ["p", "p"], None),
        ("p,,,V\n1,2,3,4\n3,4,5,6\n", ["p", "", "", "V"], None),
        (",kind,V\nA,big,n.d.\nB,small,4\n", ["", "kind", "V"], None),
        (",voltage\ns,V\n0,1.5\n1,1.6\n2,1.9\n", ["", "voltage"], None),
        (",x\nr1,<LOD\nr2,1.5\nr3,2.5\nr4,3.5\n", ["", "x"], None),
        ("p,V\n1,2,3\n4,5,6\n", ["p", "V"], None),
        ("p\n1\n2\n", ["p"], None),
    ],
)
def test_titles_above_the_names_are_seen(write, text, names, line):
    table = open_table(write(text))
    assert table.names == names and not table.doubt
    note = f"the names are in line {line}; those above are left out."
    assert table.notes == ([] if line is None else [note])


def test_lines_are_counted_from_the_first_of_the_file(write):
    with pytest.raises(TableError, match="line 5, column 'p': '1,5' is not a number"):
        read(write(TITLED), "T")


def test_the_line_of_the_names_is_asked_for_or_given(write):
    for text in ("Gases\np,V\nbar,l\n1,2\n3,4\n5,6\n", "Gases\nin March,dry\np,V\n1,2\n3,4\n"):
        assert "--header-row 2 says so" in open_table(write(text)).doubt
    path = write("operator,Smith\np,V,T\n1,2,3\n3,4,5\n")
    table = open_table(path)
    assert "--header-row 2 says so, --header-row 1 takes line 1" in table.doubt
    with pytest.raises(TableError, match="the names may be in line 2"):
        read_columns(path, ["operator"])
    for row, names in ((2, ["p", "V", "T"]), (1, ["operator", "Smith"])):
        table = open_table(path, layout=FileLayout(header_row=row))
        assert table.names == names and not table.doubt
    table = open_table(path, layout=FileLayout(header_row=3, header=False))
    assert table.names == ["x0", "x1", "x2"]
    assert [X.to_numpy().tolist() for X, _ in number_blocks(table, ["x2"])] == [[[3.0], [5.0]]]
    with pytest.raises(TableError, match="has no line 9"):
        open_table(path, layout=FileLayout(header_row=9))


# -- What belongs to the process ------------------------------------------------------------------


def test_the_limit_of_fields_is_left_alone(write):
    before = csv.field_size_limit()
    tables = [open_table(write("a\n" + "1\n" * 500, f"{i}.csv")) for i in "ab"]
    with ExitStack() as stack:
        readers = [t._rows(stack.enter_context(t._body())) for t in tables]
        for reader in readers:
            next(reader)
            assert csv.field_size_limit() == before
        for reader in readers:  # the one that began first ends first
            reader.close()
    assert csv.field_size_limit() == before
    long = "9" * 2 * before
    with pytest.raises(TableError, match="line 3, column 'a'"):
        read_columns(write(f"a\n1\n{long}x\n"), ["a"])
    assert csv.field_size_limit() == before


# -- Parquet and workbooks ------------------------------------------------------------------------


def test_columns_of_one_name_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    columns = [pa.array([1, 2]), pa.array([3.0, 4.0]), pa.array(["x", "y"])]
    pq.write_table(pa.table(columns, names=["a", "a", "y"]), path)
    with pytest.raises(TableError, match="has 2 columns with the name 'a'"):
        read(path)
    (cells,) = open_table(path).cells([0, 1, 2])
    assert [column.tolist() for column in cells] == [[1.0, 2.0], [3.0, 4.0], ["x", "y"]]


def test_titles_above_the_names_of_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    rows = (["Laboratory 3"], ["by hand", None], [], ["p", "V"], [1.5, 2], [3, "x"])
    for margin, names in ([None], ["", "p", "V"]), ([], ["p", "V"]):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([*margin, *row])
        book.save(path)
        table = open_table(path)
        assert table.names == names and not table.doubt
    assert table.notes == ["the names are in row 4 of the sheet; those above are left out."]
    with pytest.raises(TableError, match="row 6 of the sheet, column 'V': 'x' is not a number"):
        read_columns(path, ["V"])
    given = open_table(path, layout=FileLayout(header_row=5, header=False))
    assert given.names == ["x0", "x1"] and given.lines([0]) == {0: "row 5 of the sheet"}
    with pytest.raises(TableError, match="has no row 9"):
        open_table(path, layout=FileLayout(header_row=9))


@pytest.mark.parametrize(
    ("first", "later", "expected"),
    [
        (["1", "2"], ["1", "1.0"], [1.0, 1.0]),
        (["1", "2"], ["2.5", "3"], [2.5, 3.0]),
        (["1.50", "2.25"], ["3.00", "4"], [3.0, 4.0]),
        (["01", "1"], ["1", "2"], ["1", "2"]),
        (["1", "2"], ["1", "01"], "line 5, column 'p': the label '01' is of another kind"),
        (["1", "2"], ["1", "True"], "line 5, column 'p': the label 'True' is of another kind"),
        (["True", "False"], ["1", "2"], "line 4, .*before it, True and False"),
    ],
)
def test_labels_of_later_blocks_are_of_the_kind_of_the_first(tmp_path, first, later, expected):
    lines = [f"{i}.5,{label}" for i, label in enumerate([*first, *later])]
    (tmp_path / "m.csv").write_text("\n".join(["x,p", *lines]) + "\n")
    blocks = Blocks.from_csv(tmp_path / "m.csv", target="p", rows=2)
    if isinstance(expected, str):
        with pytest.raises(TableError, match=expected):
            list(blocks)
    else:
        assert [labels.tolist() for _, labels in blocks][1] == expected


def test_a_cell_that_is_far_away_makes_no_rows_between(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("p", "V"), (1, 2), (3, 4)):
        book.active.append(row)
    book.active.cell(1_000_000, 16_000, "forgotten")
    book.save(tmp_path / "far.xlsx")
    table = open_table(tmp_path / "far.xlsx")
    assert table.names == ["p", "V"] and len(table.rows) == 3
    assert table.lines([2]) == {2: "row 1000000 of the sheet"}


def test_a_line_of_names_far_behind_the_end_is_said_at_once(write):
    with pytest.raises(TableError, match="has no line 1000000000000"):
        open_table(write("p,V\n1,2\n"), layout=FileLayout(header_row=10**12))
