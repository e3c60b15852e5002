"""A sensor and its readings: the offset and the matrix that put them on a sphere."""

import warnings
from dataclasses import replace

from vanishing.questions.answer import PICTURES, Answer
from vanishing.questions.files import model_file, picture_file, rows_file, text_file
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.questions.values import noise_of


def _answer(table: QuestionTable, **given) -> Answer:
    prepared = table.prepared({})
    if not 2 <= len(prepared.names) <= 3:
        raise ValueError(
            f"{table.path} has {len(prepared.names)} columns of numbers, and a sensor has two or "
            "three axes: name them with --only."
        )
    noise, X = noise_of(given["noise"], prepared.names), prepared.frame()
    from vanishing import EllipsoidCalibration
    from vanishing.questions.row_answers import calibration_answer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict says it
        model = EllipsoidCalibration(noise=noise, robust=given["robust"]).fit(X)
    answer = calibration_answer(model)
    heading = f"{table.name}: {len(X)} rows"
    return replace(
        answer,
        heading=heading,
        notes=tuple(prepared.notes),
        next_steps=("Calibrate other readings with the saved calibration.",),
        files=_files(prepared, model, X) if answer.found else (),
        printed=(heading, *answer.printed),
    )


def _files(prepared, model, X):
    from vanishing.export import to_c
    from vanishing.plot import CalibrationDisplay

    def readings():
        named = "id" in prepared.texts
        names = prepared.texts["id"].tolist() if named else []
        yield [*([prepared.recipe.role("id")] if named else []), "row", *prepared.names]
        for i, row in enumerate(model.transform(X).tolist()):
            yield [*names[i : i + 1], int(prepared.rows[i]) + 1, *row]

    return (
        rows_file("calibrated.csv", "The calibrated readings", readings),
        text_file("calibration.c", "C", "text/x-c", lambda: to_c(model)),
        model_file(model, prepared.recipe, "calibration.json"),
        picture_file(lambda: CalibrationDisplay.from_estimator(model, X)),
    )


QUESTION = question_of(
    "calibrate",
    _answer,
    writes=(
        ((".csv",), "the calibrated readings"),
        ((".c",), "C source"),
        ((".json",), "the calibration"),
        (PICTURES, "a picture"),
    ),
)
