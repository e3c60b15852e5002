"""The command ``report``: one HTML file about a model and labelled rows."""

from vanishing.cli.console import check_output, columns_of, console, fail, listed, load_model
from vanishing.rows.tables import known_classes, open_table


def report(model_path, data, out, target):
    """Read model and rows, and write the report."""
    from vanishing.report import write_report

    check_output(out, model_path, data)
    model = load_model(model_path)
    table = open_table(data)
    if hasattr(model, "feature_names_in_"):
        columns = columns_of(model, table)
        others = [name for name in table.names if name not in columns]
        if target is None and len(others) != 1:
            what = "no column" if not others else f"the columns {listed(others)}"
            fail(f"{data} has {what} beside the model's: name the labels' column with --target.")
        target = others[0] if target is None else target
    else:
        if target is None:
            fail("The model knows no names of columns: name the labels' column with --target.")
        columns = table.others([target])
    X, labels = table.read(columns, target)
    y = known_classes(labels, model.classes_, target)
    with console(error=True).status("Writing the report"):
        write_report(model, X, y, out, data_name=data.name)
    console().print(f"Report on {len(X)} rows: {out}")
