"""Rows for other programs: CSV, JSON, JUnit, Gradescope, GitHub Classroom.

Each writer takes rows one at a time, so that a class of any size passes through.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from exercises.classroom.marks import POINTS
from exercises.grader.verdict import PASSED

Row = dict[str, Any]
FORMULA = ("=", "+", "-", "@", "\t", "\r")
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"  # without it a spreadsheet guesses the encoding
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLUMNS = ("student", "submission", "status", "score", "max", "problems", "isolation")


def csv_lines(rows: Iterable[Row], names: list[str]) -> Iterator[str]:
    """A line for each row, with a column of points for each exercise."""
    yield BOM + _csv_line([*COLUMNS, *names])
    for row in rows:
        own = [row["exercises"].get(name, {}).get("score", 0.0) for name in names]
        told = [row["student"], row["id"], row["status"]]
        yield _csv_line([*told, row["score"], row["max"], "; ".join(row["problems"]), row["isolation"], *own])


def _csv_line(cells: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([_inert(cell) for cell in cells])
    return buffer.getvalue()


def _inert(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front; line breaks become blanks."""
    if not isinstance(cell, str):
        return cell
    text = re.sub(r"[\r\n]+", " ", cell)
    return "'" + text if cell.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    """One array of all rows."""
    between = "[\n"
    for row in rows:
        yield between + json.dumps(row, ensure_ascii=False, allow_nan=False)
        between = ",\n"
    yield "\n]\n" if between == ",\n" else "[]\n"


def junit_lines(rows: Iterable[Row]) -> Iterator[str]:
    """A test suite for each submission, a test case for each exercise."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    for row in rows:
        yield _suite(row)
    yield "</testsuites>\n"


def _suite(row: Row) -> str:
    cases = list(row["exercises"].items())
    failures = sum(own["status"] == "wrong" for _name, own in cases)
    skipped = sum(own["status"] not in ("wrong", PASSED) for _name, own in cases)
    errors = 0 if cases else 1
    name = quoteattr(_xml(row["student"]))
    counts = f'tests="{len(cases) or 1}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    lines = [f"<testsuite name={name} {counts}>", *(_case(row, *case) for case in cases)]
    if not cases:
        message = quoteattr(_xml("; ".join(row["problems"]) or row["status"]))
        lines.append(f'<testcase classname={name} name="submission"><error message={message}/></testcase>')
    return "\n".join([*lines, "</testsuite>\n"])


def _case(row: Row, name: str, own: Row) -> str:
    head = f"<testcase classname={quoteattr(_xml(row['student']))} name={quoteattr(name)}"
    if own["status"] == PASSED:
        return head + "/>"
    if own["status"] != "wrong":
        return f"{head}><skipped message={quoteattr(own['status'])}/></testcase>"
    message = quoteattr(_xml(" ".join(own["likely"]) or own["problem"] or f"{own['right']} of {own['total']} right"))
    return f"{head}><failure message={message}>{escape(_xml(own['text']))}</failure></testcase>"


def _xml(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def gradescope(row: Row) -> str:
    """results.json of one submission: the maxima of the tests sum to the total, and no number is NaN."""
    tests = [
        {"name": name, "score": own["score"], "max_score": own["max"], "output": own["text"] or own["status"],
         "output_format": "text", "status": "passed" if own["status"] == PASSED else "failed",
         "visibility": "visible"}
        for name, own in row["exercises"].items()
    ]  # fmt: skip
    result = {"output": "\n".join(row["problems"]), "visibility": "visible", "tests": tests}
    if not tests:
        result["score"] = 0.0
    return json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)


def github(row: Row) -> str:
    """The results of one submission for the reporter of GitHub Classroom, as JSON.

    The reporter adds up scores for one of its totals and counts passed tests for the other, so every test weighs the
    same and gives all or nothing.
    """
    tests = [
        {"name": name, "status": "pass" if own["status"] == PASSED else "fail",
         "score": POINTS if own["status"] == PASSED else 0.0,
         "message": own["text"] if own["status"] != PASSED else None,
         "test_code": f"python -m exercises check {name}", "filename": own["file"], "line_no": 0, "duration": 0}
        for name, own in row["exercises"].items()
    ]  # fmt: skip
    if not tests:
        message = "; ".join(row["problems"]) or row["status"]
        tests = [{"name": "submission", "status": "error", "score": 0.0, "message": message, "test_code": "",
                  "filename": "", "line_no": 0, "duration": 0}]  # fmt: skip
    found = {test["status"] for test in tests}
    status = "error" if "error" in found else "fail" if "fail" in found else "pass"
    result = {"version": 1, "status": status, "max_score": POINTS * len(tests), "tests": tests}
    return json.dumps(result, ensure_ascii=False, allow_nan=False)


def github_output(row: Row) -> str:
    """A line for $GITHUB_OUTPUT: the same in base64, as the reporter reads it from <RUNNER>_RESULTS."""
    return "result=" + base64.b64encode(github(row).encode(errors="replace")).decode() + "\n"
