"""The command ``calibrate``: offset and matrix of a sensor, from its readings."""

import csv
import io
import warnings
from pathlib import Path
from typing import Annotated

from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import (
    check_output,
    console,
    fail,
    is_stdout,
    print_json,
    progress,
    write_or_print,
)
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.cli.values import noise_of


@command("vanishing calibrate readings.csv --only mx --only my --only mz --out calibrated.csv")
@takes_table()
def calibrate(
    data: Data,
    out: Annotated[
        Path | None,
        Option(
            help="CSV file of the calibrated readings, or C source (.c); - prints readings.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        list[str] | None,
        Option(
            help="Standard deviation of the noise: a number, or COLUMN=NUMBER; may be repeated.",
            show_default="estimated",
        ),
    ] = None,
    robust: Annotated[
        bool, Option("--robust/--no-robust", help="Whether rows may be wrong.")
    ] = True,
    save: Annotated[
        Path | None, Option(help="Where to save the calibration.", show_default=False)
    ] = None,
    json: Annotated[bool, Option("--json", help="Print the calibration as JSON.")] = False,
    *,
    options: TableOptions,
):
    """Find the offset and the matrix that put readings of a sensor on a sphere.

    The columns are the axes of the sensor, two or three; --only names them. If readings do not
    determine an ellipsoid, the command says so, writes nothing and exits with 1.
    """
    files = [path for path in (out, save) if path is not None and not is_stdout(path)]
    for path in files:
        check_output(path, data)
    if len(set(files)) < len(files):
        fail("Two files to write have the same name: give each its own.", 2)
    if json and is_stdout(out):
        fail("--json and --out - both print: choose one.", 2)
    table = prepared(data, options, {})
    if not 2 <= len(table.names) <= 3:
        fail(
            f"{data} has {len(table.names)} columns of numbers, and a sensor has two or three "
            "axes: name them with --only."
        )
    sizes = noise_of(noise, table.names)
    X = table.frame()
    from vanishing import EllipsoidCalibration

    model = EllipsoidCalibration(noise=sizes, robust=robust)
    with progress("Fitting"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict is printed
        model.fit(X)
    from vanishing.cli import calibration_text

    if json:
        print_json(calibration_text.document(model))
    elif not is_stdout(out):
        console(wrapped=False).print(f"{data.name}: {len(X)} rows")
        calibration_text.write_text(model)
    if not model.is_determined_:
        if files or is_stdout(out):
            fail("Nothing was written.")
        raise SystemExit(1)
    if save is not None:
        save_with_recipe(model, save, table.recipe)
    if out is not None:
        write_or_print(out, _text(out, model, table, X))
    if not json and not is_stdout(out):
        for path in files:
            console(wrapped=False).print(f"Written: {path}")


def _text(out: Path, model, table, X) -> str:
    """Return what is written: C source, or a CSV file of the calibrated readings."""
    if out.suffix == ".c":
        from vanishing.export import to_c

        return to_c(model)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = "id" in table.texts
    writer.writerow([*([table.recipe.role("id")] if named else []), "row", *table.names])
    names = table.texts["id"].tolist() if named else []
    for i, row in enumerate(model.transform(X).tolist()):
        writer.writerow([*names[i : i + 1], int(table.rows[i]) + 1, *row])
    return text.getvalue()
