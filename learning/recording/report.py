"""The report on a recorded model's normalisation layers: as a table for a terminal, as CSV, or as JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from learning.recording.analysis import COLUMNS, EFFECT_COLUMNS, TableRow
from learning.recording.column import Column
from learning.recording.verdict import TOO_FEW, Finding, verdict

# the columns of the short table, which fits into a terminal
SUMMARY_COLUMNS = (
    "path",
    "kind",
    "d",
    "vectors",
    "kl",
    "loss",
    "change",
    "share_d",
    "sigma",
    "longest",
    "rank",
    "eps_high",
    "turn_scaled",
)
EXPLAINED_COLUMNS = ("share_d", "rank", "turn_scaled")  # the text explains these
FORMULA_SIGNS = {*"=+-@−"}  # characters with which a formula in a spreadsheet begins
MAX_HEADING_CHARACTERS = 11  # in a line; longer headings are wrapped
MAX_PATH_CHARACTERS = 34  # longer paths are cut at the start, because norms differ at the end


def formatted(column: Column, value: Any) -> str:
    """Format a value for a table; None, which means "not measured", becomes a dash."""
    if value is None:
        return "–"
    return format(value, column.digits) if column.digits else str(value)


def columns(rows: Sequence[TableRow]) -> list[Column]:
    """The columns of a full report; EFFECT_COLUMNS are among them only if the rows contain them."""
    path, kind, d, *others = COLUMNS
    return [column for column in (path, kind, d, *EFFECT_COLUMNS, *others) if column.name in rows[0]]


def summary_columns(rows: Sequence[TableRow]) -> list[Column]:
    """The columns of the short table: those of SUMMARY_COLUMNS that have a value in at least one row."""
    measured = {name for row in rows for name, value in row.items() if value is not None}
    return [column for column in columns(rows) if column.name in measured.intersection(SUMMARY_COLUMNS)]


def table(rows: Sequence[TableRow]) -> str:
    """Format the `summary_columns` of the rows as a text table with aligned columns.

    Long headings are wrapped. A text of more than MAX_PATH_CHARACTERS begins with "…" and shows its end.
    """
    shown = summary_columns(rows)
    headings = [wrap(column.label, MAX_HEADING_CHARACTERS) for column in shown]
    height = max(map(len, headings))
    cells = [[([""] * height + lines)[k - height] for lines in headings] for k in range(height)]
    cells += [[_cut(formatted(column, row[column.name])) for column in shown] for row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(shown))]
    left = [column.digits == "" for column in shown]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_PATH_CHARACTERS else "…" + text[1 - MAX_PATH_CHARACTERS :]


def text(name: str, rows: Sequence[TableRow], skipped: Sequence[str] = (), together: Any = None) -> str:
    """The full report for a terminal: the table with a legend, the findings, and the norms left out.

    `skipped` has a line for each norm that was left out: its path and the reason. `together` is the `Effect`
    of toggling the centring of all norms at once; None if it was not measured.
    """
    found = {each.answer: each for each in verdict(rows, together)}  # equal answers only once
    findings = [_sentence(each) for each in found.values()]
    shown = {column.name: column for column in summary_columns(rows)}
    legend = [f"{shown[name].label}: {shown[name].about}" for name in EXPLAINED_COLUMNS if name in shown]
    left = [f"Left out: {line}" for line in skipped]
    return "\n".join([name, "", table(rows), "", *legend, "", *findings, *left])


def _sentence(finding: Finding) -> str:
    answer = f"{finding.answer[:1].upper()}{finding.answer[1:]}."
    return answer if finding.answer.startswith(TOO_FEW) else f"{finding.question} {answer}"


def to_csv(rows: Sequence[TableRow]) -> str:
    """The rows as CSV with a header: one line per norm, in full precision, safe to open in a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    shown = columns(rows)
    writer.writerow(column.name for column in shown)
    for row in rows:
        writer.writerow(_plain(row[column.name]) for column in shown)
    return file.getvalue()


def file_name(name: str, ending: str) -> str:
    """The name of a file with numbers about a recording, such as "normscape-gpt2.csv".

    name: the name of the model. Of its lower-case form, at most 20 letters a–z and digits are kept; without
    any, "model" is taken. ending: the suffix without its dot.
    """
    plain = re.sub("[^a-z0-9]", "", name.lower())[:20] or "model"
    return f"normscape-{plain}.{ending}"


def _plain(value: Any) -> Any:
    """Escape a value for CSV: an apostrophe goes before a text that a spreadsheet might run as a formula.

    Such a text begins with a tab or a line break, or its first visible character is one of FORMULA_SIGNS.
    Fullwidth signs, such as "＝", count too (the text is normalised with NFKC), because some spreadsheets
    read them as the ordinary ones.
    """
    if not isinstance(value, str) or not value:
        return value
    first = next((each for each in unicodedata.normalize("NFKC", value) if _visible(each)), "")
    return f"'{value}" if first in FORMULA_SIGNS or value[:1] in "\t\r\n" else value


def _visible(character: str) -> bool:
    return not character.isspace() and character.isprintable()


def to_json(name: str, rows: Sequence[TableRow], skipped: Sequence[str] = (), together: Any = None) -> str:
    """The report as JSON: the rows, the findings, the norms not recorded, and each column's definition.

    `skipped` and `together` are as in `text`.
    """
    found: dict[str, Any] = {"name": name, "norms": [dict(row) for row in rows]}
    found |= {"verdict": [asdict(each) for each in verdict(rows, together)], "skipped": list(skipped)}
    found |= {"definitions": {column.name: column.about for column in columns(rows)}}
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
