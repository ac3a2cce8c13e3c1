"""What other programs read: each format against its schema, with names and texts that try to break it."""

from __future__ import annotations

import base64
import csv
import io
import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import jsonschema
import pytest

from exercises.classroom import formats
from exercises.classroom.class_report import MOST_ROWS, class_report
from exercises.classroom.mark import mark
from exercises.classroom.marks import POINTS
from exercises.classroom.student_report import student_report
from exercises.classroom.summary import summarise
from exercises.grader.catalog import find

NAMES = ["e05_top_p", "e05_nuclei"]
EXERCISES = [find(name) for name in NAMES]
NASTY = [
    '=HYPERLINK("http://x","y")',
    'a,"b"\n=1+1',
    "  @SUM(1)",
    "<script>alert(1)</script>",
    "\x00\x1b[31m \ud800",
    "Müller",
]

GRADESCOPE = {
    "type": "object", "required": ["tests"],
    "properties": {
        "score": {"type": "number", "minimum": 0}, "output": {"type": "string"},
        "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
        "tests": {"type": "array", "items": {
            "type": "object", "required": ["name", "score", "max_score", "output", "status"],
            "properties": {
                "name": {"type": "string"}, "score": {"type": "number", "minimum": 0},
                "max_score": {"type": "number", "exclusiveMinimum": 0}, "output": {"type": "string"},
                "output_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
                "status": {"enum": ["passed", "failed"]},
                "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
            },
            "additionalProperties": False,
        }},
    },
    "additionalProperties": False,
}  # fmt: skip
GITHUB = {
    "type": "object", "required": ["version", "status", "max_score", "tests"],
    "properties": {
        "version": {"const": 1}, "status": {"enum": ["pass", "fail", "error"]}, "max_score": {"type": "number"},
        "tests": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["name", "status", "score", "message"],
            "properties": {
                "name": {"type": "string"}, "status": {"enum": ["pass", "fail", "error"]},
                "score": {"type": "number", "minimum": 0}, "message": {"type": ["string", "null"]},
                "test_code": {"type": "string"}, "filename": {"type": "string"}, "line_no": {"type": "integer"},
                "duration": {"type": "number"},
            },
            "additionalProperties": False,
        }},
    },
    "additionalProperties": False,
}  # fmt: skip
ROW = {
    "type": "object",
    "required": ["id", "student", "status", "score", "max", "problems", "isolation", "exercises", "digest"],
    "properties": {
        "status": {"enum": ["graded", "not graded", "the grader failed"]}, "score": {"type": "number", "minimum": 0},
        "problems": {"type": "array", "items": {"type": "string"}},
        "exercises": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["status", "score", "max", "right", "total", "mistakes", "text", "file"],
            "properties": {"status": {"enum": ["passed", "wrong", "not attempted", "missing"]}},
        }},
    },
}  # fmt: skip
# Elements of JUnit's schema with their attributes, and what may stand in them.
JUNIT = {
    "testsuites": (set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"testcase"}),
    "testcase": ({"classname", "name"}, {"failure", "error", "skipped"}),
    "failure": ({"message"}, set()),
    "error": ({"message"}, set()),
    "skipped": ({"message"}, set()),
}


def answer(status, score, **more):
    told = {"right": 1, "total": 2, "mistakes": [], "likely": [], "problem": "", "text": "", "file": "", "code": ""}
    return told | {"status": status, "score": score, "max": POINTS} | more


def row(id, first=("passed", 10.0), second=("missing", 0.0), **more):
    own = {NAMES[0]: answer(*first, text=f"{id} ]]> & <b>"), NAMES[1]: answer(*second)}
    score = first[1] + second[1]
    base = {"id": id, "student": id, "digest": "0", "status": "graded", "score": score, "max": 20.0, "problems": []}
    return base | {"isolation": "process", "exercises": own} | more


ROWS = [
    *(row(name, ("wrong", 5.0), ("wrong", 2.5)) for name in NASTY),
    row("good", second=("passed", 10.0)),
    row("blank", ("not attempted", 0.0)),
    row("bad", status="not graded", exercises={}, score=0.0, problems=NASTY, isolation=""),
]


def test_rows_keep_their_schema():
    for each in ROWS:
        jsonschema.validate(each, ROW)
    job = {"id": "x", "student": "x", "digest": "0", "problems": [], "graded": False, "answers": {}}
    jsonschema.validate(mark(job, {"names": NAMES}), ROW)


def test_csv_holds_every_row_and_no_formula():
    text = "".join(formats.csv_lines(ROWS, NAMES))
    table = list(csv.reader(io.StringIO(text.removeprefix(formats.BOM))))
    assert len(table) == len(ROWS) + 1 and {len(line) for line in table} == {len(formats.COLUMNS) + 2}
    cells = [cell for line in table for cell in line]
    assert not [cell for cell in cells if cell.lstrip().startswith(formats.FORMULA) or "\n" in cell]
    good = next(line for line in table if line[0] == "good")
    assert good[3:5] == ["20.0", "20.0"] and good[-2:] == ["10.0", "10.0"]


def test_json_is_one_array():
    assert json.loads("".join(formats.json_lines(ROWS))) == ROWS
    assert json.loads("".join(formats.json_lines([]))) == []
    with pytest.raises(ValueError, match="JSON compliant"):
        list(formats.json_lines([{"score": float("nan")}]))


def test_junit_keeps_its_schema_and_counts_truly():
    root = ElementTree.fromstring("".join(formats.junit_lines(ROWS)).encode("utf-8"))
    for element in root.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) == attributes and {child.tag for child in element} <= children
    suites = root.findall("testsuite")
    assert len(suites) == len(ROWS)
    for suite in suites:
        found = {kind: len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error", "skipped")}
        counted = {name: int(suite.attrib[f"{name}s" if name != "skipped" else name]) for name in found}
        assert found == counted and int(suite.attrib["tests"]) == len(suite)


@pytest.mark.parametrize("each", ROWS, ids=range(len(ROWS)))
def test_gradescope_keeps_its_schema_and_its_sums(each):
    result = json.loads(formats.gradescope(each), parse_constant=pytest.fail)
    jsonschema.validate(result, GRADESCOPE)
    assert sum(test["score"] for test in result["tests"]) == each["score"]
    assert sum(test["max_score"] for test in result["tests"]) == (each["max"] if each["exercises"] else 0)


@pytest.mark.parametrize("each", ROWS, ids=range(len(ROWS)))
def test_github_classroom_gets_two_totals_that_agree(each):
    """Its reporter sums scores for one and takes the share of passed tests for the other."""
    line = formats.github_output(each)
    assert line.startswith("result=") and line.count("\n") == 1
    result = json.loads(base64.b64decode(line.removeprefix("result=")))
    jsonschema.validate(result, GITHUB)
    passed = [test["status"] == "pass" for test in result["tests"]]
    assert sum(test["score"] for test in result["tests"]) == sum(passed) / len(passed) * result["max_score"]
    assert (result["status"] == "pass") == all(passed)


# Reports


class Reader(HTMLParser):
    """Tags opened and closed, and everything that would be fetched or run."""

    def __init__(self, page):
        super().__init__()
        self.open, self.outside, self.words = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        values = dict(attributes)
        foreign = [values.get(name, "#") for name in ("href", "src") if not values.get(name, "#").startswith("#")]
        scripts = [name for name in values if name.startswith("on")] + [tag] * (
            tag in ("script", "link", "img", "iframe")
        )
        self.outside += foreign + scripts

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def test_a_students_page_is_whole_safe_and_offline():
    for each in ROWS:
        reader = Reader(student_report(each, EXERCISES))
        assert reader.open == [] and reader.outside == []
        if each["exercises"]:
            assert "Implement top-p filtering exactly" in reader.words and f"{each['score']:g} / 20" in reader.words
    assert "<script>alert" in Reader(student_report(ROWS[3], EXERCISES)).words


def test_the_class_page_counts_mistakes_and_names_equal_code():
    mistaken = {"mistakes": ["wrong_drops_crossing"], "code": "c1"}
    rows = [row(f"s{i}", ("wrong", 0.0)) for i in range(20)]
    for each in rows[:3]:
        each["exercises"][NAMES[0]] |= mistaken
    for each in rows[5:]:
        each["exercises"][NAMES[0]] |= {"code": "as everybody writes it"}
    summary = summarise([*rows, *ROWS], NAMES)
    assert summary.items[NAMES[0]].mistakes == {"wrong_drops_crossing": 3}
    assert summary.pairs() == [("s0", "s1", 1, 1), ("s0", "s2", 1, 1), ("s1", "s2", 1, 1)]
    reader = Reader(class_report(summary, EXERCISES))
    assert reader.open == [] and reader.outside == []
    assert f"3 × {find('top_p').wrong['wrong_drops_crossing'].__doc__}" in reader.words
    assert "s0" in reader.words and "not graded" in reader.words


def test_a_large_class_is_shown_by_tenths():
    rows = [row(f"s{i}", ("wrong", float(i % 11))) for i in range(MOST_ROWS + 1)]
    reader = Reader(class_report(summarise(rows, NAMES), EXERCISES))
    assert "tenth 10 of the class" in reader.words and "s17" not in reader.words


def test_an_empty_class_has_a_page():
    assert Reader(class_report(summarise([], NAMES), EXERCISES)).open == []
