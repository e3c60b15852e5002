"""The tools that agents call: each asks a question and returns a small JSON document."""

import json
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from vanishing._version import __version__
from vanishing.agent.folders import Folders
from vanishing.questions import QUESTIONS, READING, Answer, Reading, describe, problems_of, read
from vanishing.tables.errors import TableError

_ROWS = 20  # of a table of an answer
_EQUATIONS = 10
_COLUMNS = 200  # that are described
_INSTRUCTIONS = (
    "Finds polynomial equations that a table satisfies. Start with describe_table; apply the "
    "remedies of its problems by `reading`. `found: false` is an answer: nothing holds. Numbers in "
    "brackets behind digits are standard errors of the last digit."
)
Options = dict[str, Any] | None


class Tools:
    """The tools, on tables below some folders.

    Parameters
    ----------
    folders : Folders
    out : Path
        Where reports and models are written, a folder per answer.
    """

    def __init__(self, folders: Folders, out: Path):
        self.folders, self.out = folders, out
        self._turn = threading.Lock()  # one computation at a time
        self._count = 0

    def describe_table(self, table: str, reading: Options = None) -> dict[str, Any]:
        """Say what a table holds: its columns, what looks odd, and what helps."""
        with self._turn, _errors():
            found = describe(self.folders.file(table), _reading(reading))
        columns = []
        for column in found.columns[:_COLUMNS]:
            facts = asdict(column)
            del facts["counts"]
            columns.append({name: value for name, value in facts.items() if value})
        return {
            "n_rows": found.n_rows,
            "n_columns": len(found.columns),
            "columns": columns,
            "first_rows": [list(row) for row in found.first_rows[:3]],
            "problems": [_problem(problem) for problem in found.problems],
            "notes": list(found.notes),
        }

    def find_laws(
        self,
        table: str,
        target: str | None = None,
        reading: Options = None,
        options: Options = None,
    ) -> dict[str, Any]:
        """Find the equation for a column, or, without a target, equations among all columns."""
        return self._asked("laws", table, reading, options, target=target)

    def check_law(
        self,
        table: str,
        equation: str,
        target: str | None = None,
        reading: Options = None,
        options: Options = None,
    ) -> dict[str, Any]:
        """Check an equation such as "p*V = R*n*T"; names that are no columns are fitted."""
        return self._asked("laws", table, reading, options, check=equation, target=target)

    def find_outliers(
        self, table: str, reading: Options = None, options: Options = None
    ) -> dict[str, Any]:
        """Find the rows that break the laws which most rows obey, and the columns to blame."""
        return self._asked("outliers", table, reading, options)

    def repair(
        self, table: str, reading: Options = None, options: Options = None
    ) -> dict[str, Any]:
        """Fill gaps and replace values that break the laws of a table."""
        return self._asked("repair", table, reading, options)

    def classify(
        self, table: str, target: str, reading: Options = None, options: Options = None
    ) -> dict[str, Any]:
        """Learn to tell classes apart by the equations that each class obeys."""
        return self._asked("classes", table, reading, options, target=target)

    def conserved_quantities(
        self,
        table: str,
        run: str | None = None,
        time: str | None = None,
        reading: Options = None,
        options: Options = None,
    ) -> dict[str, Any]:
        """Find what stays the same along each run of a system that moves."""
        return self._asked("conserved", table, reading, options, run=run, time=time)

    def _asked(self, question: str, table: str, reading: Options, options: Options, **more):
        given = {**(options or {}), **{k: v for k, v in more.items() if v is not None}}
        with self._turn, _errors():
            for option in QUESTIONS[question].options:
                if option.kind == "file" and isinstance(given.get(option.name), str):
                    raise ValueError(f"{option.name}: give a mapping, not the name of a file.")
            rows = read(self.folders.file(table), _reading(reading))
            answer = QUESTIONS[question].ask(rows, **given)
            return {**_small(answer), "files": self._written(answer, rows.path)}

    def _written(self, answer: Answer, table: Path) -> dict[str, str]:
        """Write the report and the model of an answer, and return where they are."""
        self._count += 1
        while any(self.out.glob(f"{self._count:03}-*")):  # of a server before this one
            self._count += 1
        name = re.sub(r"\W+", "-", f"{answer.question}-{table.stem}")
        folder = self.out / f"{self._count:03}-{name}"
        folder.mkdir(parents=True)
        written = {}
        for file in answer.take_away():
            if file.name.endswith((".html", ".json", ".csv")):
                path = folder / file.name
                file.write(path)
                written[file.name] = str(path)
        return written


def _small(answer: Answer) -> dict[str, Any]:
    """Return what an agent reads of an answer."""
    equations = [
        {name: equation[name] for name in ("text", "latex", "constants")}
        for equation in (equation.to_dict() for equation in answer.equations[:_EQUATIONS])
    ]
    tables = [
        {**table, "rows": table["rows"][:_ROWS], "n_rows": len(table["rows"])}
        for table in (table.to_dict() for table in answer.tables)
    ]
    return {
        "question": answer.question,
        "found": answer.found,
        "verdict": answer.verdict,
        "table": answer.heading,
        "equations": equations,
        "tables": tables,
        "notes": list(answer.notes),
        "next_steps": list(answer.next_steps),
        "command": answer.command,
    }


def _reading(given: Mapping[str, Any] | None) -> Reading:
    known = [option.name for option in READING]
    unknown = set(given or {}) - set(known)
    if unknown:
        raise ValueError(f"reading has no option {min(unknown)!r}; it has {', '.join(known)}.")
    return Reading(**(given or {}))


def _problem(problem) -> dict[str, Any]:
    remedies = [{"option": r.option, "value": r.value} for r in problem.remedies]
    return {"problem": problem.sentence, "remedies": remedies}


class _errors:
    """Turns what is wrong with a table or an option into an error that an agent can read."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, TableError):
            problems = [_problem(problem) for problem in problems_of(error)]
            raise ToolError(json.dumps({"problems": problems})) from error
        if isinstance(error, (ValueError, TypeError, ImportError, MemoryError, OSError)):
            raise ToolError(json.dumps({"error": " ".join(str(error).split())})) from error


def mcp_server(folders: Sequence[str | Path], out: Path) -> MCPServer:
    """Return a server with the tools.

    Parameters
    ----------
    folders : sequence of path-like
        Whose tables may be read.
    out : Path
        Where reports are written.

    Returns
    -------
    server : MCPServer
    """
    server = MCPServer(
        "vanishing", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    tools = Tools(Folders(folders), out)
    for tool, question in (
        (tools.describe_table, None),
        (tools.find_laws, "laws"),
        (tools.check_law, "laws"),
        (tools.find_outliers, "outliers"),
        (tools.repair, "repair"),
        (tools.classify, "classes"),
        (tools.conserved_quantities, "conserved"),
    ):
        if question is None or question in QUESTIONS:
            server.tool(description=_description(tool, question))(tool)
    return server


def _description(tool, question: str | None) -> str:
    """Return what an agent is told of a tool: its options are those of the question."""
    reading = "; ".join(f"{o.name}: {o.help}" for o in READING)
    parts = [tool.__doc__, "`table` is a path below the folders of this server."]
    if question is not None:
        options = "; ".join(f"{o.name} ({o.kind}): {o.help}" for o in QUESTIONS[question].options)
        parts.append(f"`options` may have {options}")
    parts.append(f"`reading` says how the table is read: {reading}")
    return "\n".join(parts)


def serve(folders: Sequence[str | Path], out: Path | None = None) -> None:
    """Answer agents on stdin and stdout until the other end is closed.

    Parameters
    ----------
    folders : sequence of path-like
        Whose tables may be read.
    out : Path, default=None
        Where reports are written; by default a new folder among the temporary ones, which stays.
    """
    place = Path(tempfile.mkdtemp(prefix="vanishing-reports-")) if out is None else out.resolve()
    mcp_server(folders, place).run()
