"""Source text of pages: the stub that a task and a chapter hold, a solved page, the reference to show."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from exercises.grader.catalog import Exercise
from solutions.vocabulary import Choice

SETTINGS = ("objective", "difficulty", "minutes", "hints", "options")


def stub(exercise: Exercise) -> str:
    """The signature and docstring of the reference without its body, or the value with `...` for each entry."""
    if exercise.is_stored:
        return exercise.page.stub
    source = exercise.page_source
    body = ast.parse(source).body
    function = next(node for node in body if getattr(node, "name", "") == exercise.answer_name)
    if exercise.is_code:
        lines = source.splitlines()[function.lineno - 1 : function.body[0].end_lineno]
        return "\n".join([*lines, "    raise NotImplementedError"])
    aliases = {_name(node): node.value for node in body if isinstance(node, ast.Assign)}
    hint = ast.unparse(aliases.get(ast.unparse(function.returns), function.returns))
    check = exercise.checks[0]
    blank = "..." if isinstance(check, Choice) and isinstance(check.value, list) else _blank(check.value)
    return f"{exercise.answer_name}: {hint} = {blank}"


def _blank(value: Any) -> str:
    if isinstance(value, dict):
        lines = [f"    {json.dumps(key, ensure_ascii=False)}: {_blank(item)},\n" for key, item in value.items()]
        return "{\n" + "".join(lines) + "}"
    return "[" + ", ".join(map(_blank, value)) + "]" if isinstance(value, list) else "..."


def fill(exercise: Exercise) -> str:
    """The task's page with the reference in the place of the stub: a solved page, as the solved edition needs it."""
    page = f"solutions.{exercise.name}"
    call = "" if exercise.is_code else "()"
    answer = f"{exercise.answer_name} = __import__({page!r}, fromlist=['']).{exercise.answer_name}{call}\n"
    return _head(exercise.path.read_text(encoding="utf-8"), exercise) + "\n" + answer


def reset(exercise: Exercise) -> Path:
    """Write the stub back into the task's file. Gives the backup of what was there, which is never overwritten."""
    source = exercise.path.read_text(encoding="utf-8")
    backup = _free_name(exercise.path)
    backup.write_text(source, encoding="utf-8")
    gap = "\n\n\n" if exercise.is_code else "\n\n"
    exercise.path.write_text(_head(source, exercise).rstrip() + gap + stub(exercise) + "\n", encoding="utf-8")
    return backup


def _free_name(path: Path) -> Path:
    names = (path.with_suffix(f".bak{number or ''}") for number in range(10_000))
    return next(name for name in names if not name.exists())


def _head(source: str, exercise: Exercise) -> str:
    """The page up to and with its last setting; of a page that does not parse, up to where the answer begins."""
    lines = source.splitlines(keepends=True)
    try:
        body = ast.parse(source).body
    except SyntaxError:
        start = re.compile(rf"(def|class) {exercise.answer_name}\b|{exercise.answer_name}\s*[:=]")
        end = next((i for i, line in enumerate(lines) if start.match(line)), len(lines))
    else:
        ends = [node.end_lineno for node in body if isinstance(node, ast.Assign) and _name(node) in SETTINGS]
        end = max(ends, default=0)
    return "".join(lines[:end])


def _name(node: ast.Assign) -> str:
    return node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""


def reference_source(exercise: Exercise) -> str:
    """The reference with the helpers of its page that it uses, as a student may see it."""
    source = exercise.page_source
    return "\n\n".join(ast.get_source_segment(source, node) or "" for node in reference_functions(exercise))


def reference_functions(exercise: Exercise) -> list[ast.stmt]:
    """The reference and the functions of its page that it uses, directly or not, in the page's order."""
    tree = ast.parse(exercise.page_source)
    known = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    needed = [exercise.answer_name]
    for name in needed:
        used = {node.id for node in ast.walk(known[name]) if isinstance(node, ast.Name)}
        needed += [other for other in known if other in used and other not in needed]
    return [node for name, node in known.items() if name in needed]
