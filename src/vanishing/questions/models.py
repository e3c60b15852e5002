"""What a saved model says by itself."""

from vanishing.questions.answer import Answer


def answer_of(model, top: int | None = None) -> Answer:
    """Return what a fitted model says, the first ``top`` equations of it."""
    from vanishing.questions.law_answers import law_answer

    return law_answer(model, top)
