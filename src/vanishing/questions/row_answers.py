"""Models of rows as answers: detectors of outliers, repair, calibration and rules."""

from typing import Any

from vanishing.algebra.writing import printable
from vanishing.persistence.values import plain, write_float
from vanishing.questions.answer import Answer, AnswerTable
from vanishing.questions.law_answers import document_of, law_equation


def detector_answer(model, top: int | None = None) -> Answer:
    """Return the threshold and the laws of a detector, with their verdicts."""
    laws = model.laws_[:top]
    if isinstance(model.contamination, str):
        threshold = f"{100 * model.false_alarm_rate:g} % of normal rows"
    else:
        threshold = f"{100 * model.contamination:g} % of the rows of the fit"
    verdict = (
        f"Rows with a score below {model.offset_:.3g} are outliers ({threshold}). "
        f"Learned from {model.n_samples_seen_} rows of {model.n_features_in_} columns."
    )
    lines = [line for law in laws for line in (f"  {law}", f"    {law.verdict}")]
    heading = "Laws:" if laws else "Laws: none that can be read."
    document = {
        "model": type(model).__name__,
        "threshold": float(model.offset_),
        "n_samples": int(model.n_samples_seen_),
        "columns": model.column_names_,
        "laws": [document_of(law) for law in laws],
    }
    return _of_laws(model, laws, "", document, (verdict, "", heading, *lines))


def repair_answer(model, top: int | None = None) -> Answer:
    """Return the laws that values are repaired by, and the noise of the columns."""
    laws = model.laws_[:top]
    names = [str(name) for name in model.get_feature_names_out()]
    noise = dict(zip(names, model.noise_.tolist(), strict=True))
    verdict = "Laws:" if laws else "Laws: none; gaps follow the covariance of the columns."
    lines = [f"  {law}" for law in laws]
    lines += ["Noise:", *(f"  {name}: {value:.3g}" for name, value in noise.items())]
    document = {
        "model": type(model).__name__,
        "noise": noise,
        "laws": [document_of(law) for law in laws],
    }
    return _of_laws(model, laws, "" if laws else verdict, document, (verdict, *lines))


def _of_laws(model, laws, verdict: str, document: dict[str, Any], printed) -> Answer:
    equations = tuple(law_equation(law, True) for law in laws)
    return Answer(
        found=bool(laws),
        verdict=verdict,
        equations=equations,
        model=model,
        details=document,
        printed=printed,
    )


def calibration_answer(model, top: int | None = None) -> Answer:
    """Return the verdict, and the calibration where there is one."""
    names = [str(name) for name in model.get_feature_names_out()]
    document = {
        "model": type(model).__name__,
        "columns": names,
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
    tables: list[AnswerTable] = []
    if model.is_determined_:
        tables = _calibration_tables(model, names)
    return Answer(
        found=model.is_determined_,
        verdict=model.verdict_,
        tables=tuple(tables),
        model=model,
        details=document,
        printed=(model.verdict_, *tables),
    )


def _calibration_tables(model, names: list[str]) -> list[AnswerTable]:
    """Return center, matrix, radius and noise of a calibration."""
    center = [
        (axis, f"{value:.6g}", f"{std:.2g}")
        for axis, value, std in zip(names, model.center_, model.center_std_, strict=True)
    ]
    matrix = [
        [f"{v: .6f} +- {error:.1g}" for v, error in zip(row, std, strict=True)]
        for row, std in zip(model.matrix_, model.matrix_std_, strict=True)
    ]
    others = [
        ("radius", f"{model.radius_:.6g}", f"{model.radius_std_:.2g}"),
        *((f"noise of {a}", f"{v:.3g}", "") for a, v in zip(names, model.noise_, strict=True)),
    ]
    heads = ("", "value", "standard error")
    return [
        AnswerTable("Center:", heads, tuple(center)),
        AnswerTable(
            "Matrix, applied to readings less the center:",
            ("", *names),
            tuple((name, *row) for name, row in zip(names, matrix, strict=True)),
        ),
        AnswerTable("Radius and noise:", heads, tuple(others)),
    ]


def list_table(title: str, lines) -> AnswerTable:
    """Return a list as a table of one column."""
    return AnswerTable(title, ("",), tuple((line,) for line in lines))


def rules_answer(rules, top: int | None = None) -> Answer:
    """Return rules in words."""
    shown = rules[:top]
    words = [printable(str(rule)) for rule in shown]
    document = {
        "columns": list(shown.columns),
        "rules": [
            {"kind": rule.kind, "columns": list(rule.columns), "rule": str(rule)} for rule in shown
        ],
    }
    return Answer(
        found=bool(words),
        verdict=f"{len(rules)} rules",
        tables=(list_table("Rules:", words),),
        model=rules,
        details=document,
        printed=tuple(words),
    )
