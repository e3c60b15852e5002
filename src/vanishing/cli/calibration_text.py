"""A calibration in the formats of the commands ``calibrate`` and ``show``."""

from vanishing.cli.console import console, fail
from vanishing.persistence.values import plain, write_float


def write_text(model, top=None):
    """Print the verdict, and the calibration where there is one."""
    printer = console(wrapped=False)
    printer.print(model.verdict_)
    if not model.is_determined_:
        return
    printer.print("Center:")
    names = model.get_feature_names_out()
    for axis, value, std in zip(names, model.center_, model.center_std_, strict=True):
        printer.print(f"  {axis}: {value:.6g} +- {std:.2g}")
    printer.print("Matrix, applied to readings less the center:")
    for row, std in zip(model.matrix_, model.matrix_std_, strict=True):
        cells = (f"{value: .6f} +- {error:.1g}" for value, error in zip(row, std, strict=True))
        printer.print("  " + "   ".join(cells))
    printer.print(f"Radius: {model.radius_:.6g} +- {model.radius_std_:.2g}")
    printer.print(f"Noise: {', '.join(f'{value:.3g}' for value in model.noise_)}")


def formulas(model, top=None):
    """Exit with a sentence: a calibration is numbers."""
    fail("A calibration has no formulas: leave --latex and --sympy out.", 2)


def document(model, top=None) -> dict:
    """Return all of a calibration as JSON has it."""
    return {
        "model": type(model).__name__,
        "columns": list(map(str, model.get_feature_names_out())),
        "is_determined": model.is_determined_,
        "verdict": model.verdict_,
        "center": plain(model.center_),
        "center_std": plain(model.center_std_),
        "matrix": plain(model.matrix_),
        "matrix_std": plain(model.matrix_std_),
        "radius": write_float(model.radius_),
        "radius_std": write_float(model.radius_std_),
        "noise": plain(model.noise_),
        "n_wrong": model.n_wrong_,
    }
