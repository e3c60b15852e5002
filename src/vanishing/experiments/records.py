"""Finished runs on disk, one JSON file each, so that an experiment can go on where it stopped.

A file is complete or absent. Files are checked when they are read; a damaged one is never
overwritten or skipped.
"""

import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vanishing.experiments.protocol import FIGURE_PSIS
from vanishing.persistence.files import read_bounded, write_atomically

FORMAT = 2  # 1: PCGAVI* and AGDAVI* were certified
_MAX_BYTES = 1 << 20
# Of a published run that was made again: as recorded, as recorded where rounding decides, not so.
VERDICTS = IDENTICAL, TIES, DIFFERENT = "identical", "up to ties", "different"


class RecordError(Exception):
    """A file or folder of results that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Key:
    """Which run a record is of."""

    kind: str  # "pipeline", "sizes", "exact", "search" or "scale"
    dataset: str
    algorithm: str
    run: int
    as_published: bool = False

    @property
    def filename(self) -> str:
        """The name of the record's file."""
        published = "-as-published" if self.as_published else ""
        return f"{self.kind}-{self.dataset}-{self.algorithm}{published}-{self.run}.json"


class Records:
    """The records in a folder.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.runs = self.folder / "runs"
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder), tempfile.TemporaryFile(dir=self.runs):
                pass
        except OSError as error:
            raise RecordError(
                f"Results cannot be written to {self.folder}: {error.strerror}. Choose another "
                "folder with --out."
            ) from error

    def load(self, key: Key) -> dict | None:
        """Return the record of a run, or None if it has not been made."""
        path = self.runs / key.filename
        try:
            record = json.loads(read_bounded(path, _MAX_BYTES).decode())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise self._damaged(path, str(error)) from error
        problem = _problem(record, key)
        if problem:
            raise self._damaged(path, problem)
        return record

    def save(self, key: Key, figures: dict, **about) -> dict:
        """Save the figures of a run and facts such as the machine; return the record."""
        record = {"format": FORMAT, **vars(key), "figures": figures, **about}
        write_atomically(self.runs / key.filename, json.dumps(record, indent=1) + "\n")
        return record

    @staticmethod
    def _damaged(path, problem):
        return RecordError(
            f"{path} is not a result of this program ({problem}). Move it away and start again: "
            "that run is made anew, all others are kept."
        )


def _is_number(value) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)


def _problem_of_replay(record: dict, outcome: dict) -> str | None:
    """Return what is wrong with the record of a published run that was made again, or None."""
    if not _is_number(record.get("seconds")):
        return f"seconds is {record.get('seconds')!r}"
    if outcome.get("verdict") not in VERDICTS:
        return f"verdict is {outcome.get('verdict')!r}"
    for name, value in outcome.items():
        if name != "verdict" and not (value is None or _is_number(value)):
            return f"{name} is {value!r}"
    return None


def _problem(record, key: Key) -> str | None:
    """Return what is wrong with a record, or None."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return f"no record of format {FORMAT}"
    for name, value in vars(key).items():
        if record.get(name) != value:
            return f"{name} is {record.get(name)!r}, not {value!r}"
    if not isinstance(record.get("machine"), str):
        return "no machine"
    if not (record.get("n_jobs") is None or _is_number(record["n_jobs"])):
        return f"n_jobs is {record['n_jobs']!r}"
    figures = record.get("figures")
    if not isinstance(figures, dict):
        return "no figures"
    if key.kind == "sizes":
        for name in ("n_generators", "n_terms"):
            counts = figures.get(name)
            good = (
                isinstance(counts, list)
                and len(counts) == len(FIGURE_PSIS)
                and all(map(_is_number, counts))
            )
            if not good:
                return f"{name} is no list of one number per psi"
        return None
    if key.kind == "scale":
        return None if _is_number(figures.get("fit_s")) else f"fit_s is {figures.get('fit_s')!r}"
    if key.kind in ("exact", "search"):
        return _problem_of_replay(record, figures)
    for name in ("error", "tuning_s", "test_s"):
        if not _is_number(figures.get(name)) or figures[name] < 0:
            return f"{name} is {figures.get(name)!r}"
    for name in ("size", "sparsity"):
        if name not in figures or not (figures[name] is None or _is_number(figures[name])):
            return f"{name} is {figures.get(name)!r}"
    params = figures.get("params", {})
    if not (isinstance(params, dict) and all(map(_is_number, params.values()))):
        return f"params is {params!r}"
    return None
