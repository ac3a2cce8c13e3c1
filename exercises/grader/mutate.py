"""Small faults put into a reference, one at a time; a check that misses one is too weak.

A function is changed in its source: a comparison, an operator, a constant, a condition, a dropped statement.
A value is changed in one entry: a number by three tolerances, a whole number by one, a letter to another.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from exercises.grader.catalog import Exercise
from exercises.grader.stubs import reference_functions

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "amax": "amin", "amin": "amax", "argmax": "argmin", "all": "any", "any": "all"}


@dataclass(frozen=True)
class Mutant:
    """An answer with one fault. name: the line (or entry) before and after it, stable while the line is."""

    name: str
    answer: Any


def mutants(exercise: Exercise) -> Iterator[Mutant]:
    """Every mutant of the answer; of a function, also those of the helpers of its page that it calls."""
    if exercise.is_code:
        yield from _code_mutants(exercise)
    else:
        check = exercise.checks[0]
        letters = list(exercise.task.options) or ["?"]
        yield from (Mutant(name, value) for name, value in _variants(check.value, check.tolerance, letters))


def _variants(value: Any, tolerance: float, letters: list[str]) -> Iterator[tuple[str, Any]]:
    """(what is changed, the value with one entry changed)."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            for name, new in _variants(value[key], tolerance, letters):
                changed = copy.copy(value)
                changed[key] = new
                yield f"{key}, {name}", changed
        return
    others: list[Any] = []
    if isinstance(value, float):
        others = [value + 3 * tolerance, value - 3 * tolerance] if tolerance else [value + 1, value / 2]
    elif isinstance(value, int):
        others = [value + 1, value - 1]
    elif isinstance(value, str):
        others = [letter for letter in letters if letter != value]
    elif isinstance(value, set):
        others = [value - {item} for item in value] + [value | {max(value) + 1}]
    yield from ((f"{value} -> {other}", other) for other in others)


def _code_mutants(exercise: Exercise) -> Iterator[Mutant]:
    functions = reference_functions(exercise)
    seen: Counter[str] = Counter()
    for number, function in enumerate(functions):
        for changed, before, after in _changes(function):
            name = f"{before} -> {after}"
            seen[name] += 1
            name += f" #{seen[name]}" if seen[name] > 1 else ""
            yield Mutant(name, _build(exercise, [*functions[:number], changed, *functions[number + 1 :]]))


def _build(exercise: Exercise, functions: list[ast.stmt]) -> Callable:
    """The reference made anew from these functions, in a copy of its page's names."""
    space: dict[str, Any] = dict(vars(exercise.page))
    module = ast.fix_missing_locations(ast.Module(body=functions, type_ignores=[]))
    exec(compile(module, f"<mutant of {exercise.name}>", "exec"), space)
    return space[exercise.answer_name]


def _changes(function: ast.stmt) -> Iterator[tuple[ast.stmt, str, str]]:
    """(changed function, line before, line after) for each small fault."""
    skipped = _left_alone(function)
    for position, node in enumerate(ast.walk(function)):
        for fault in _faults(node) if node not in skipped else ():
            changed = copy.deepcopy(function)
            target = list(ast.walk(changed))[position]
            statement = _statement(changed, target)
            before = _line(statement)
            fault(changed, target)
            yield changed, before, _line(statement)
    yield from _dropped(function)


def _left_alone(function: ast.stmt) -> set[ast.AST]:
    """Nodes of type hints and of error messages, and numbers behind a minus sign, which change together with it."""
    hints = [getattr(node, name, None) for node in ast.walk(function) for name in ("annotation", "returns")]
    raised = [node for node in ast.walk(function) if isinstance(node, ast.Raise)]
    numbers = {node.operand for node in ast.walk(function) if _is_negative(node)}
    return {inner for part in [*hints, *raised] if part for inner in ast.walk(part)} | numbers


def _is_negative(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)


def _faults(node: ast.AST) -> Iterator[Callable[[ast.AST, Any], None]]:
    """What can be changed in this node; each takes the tree and the node of a copy."""
    if isinstance(node, ast.Compare):
        for other in COMPARISONS[type(node.ops[0])]:
            yield lambda tree, target, other=other: target.ops.__setitem__(0, other())
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in ARITHMETIC.get(type(node.op), ()):
            yield lambda tree, target, other=other: setattr(target, "op", other())
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda tree, target: setattr(target, "op", other())
    if _is_negative(node) and not isinstance(node.operand.value, float):
        for value in (1 - node.operand.value, -1 - node.operand.value):
            yield lambda tree, target, value=value: _replace(tree, target, ast.Constant(value))
    elif isinstance(node, ast.UnaryOp):
        yield lambda tree, target: _replace(tree, target, target.operand)
    if isinstance(node, ast.Constant):
        for value in _other_values(node.value):
            yield lambda tree, target, value=value: setattr(target, "value", value)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda tree, target: setattr(target, "attr", NAMES[target.attr])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield lambda tree, target: setattr(target.func, "id", NAMES[target.func.id])
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield lambda tree, target: setattr(target, "test", ast.UnaryOp(ast.Not(), target.test))


def _replace(tree: ast.AST, target: ast.AST, new: ast.AST) -> None:
    """Put another node in the place of `target`."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is target for item in value):
                setattr(parent, name, [new if item is target else item for item in value])


def _other_values(value: object) -> tuple:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if isinstance(value, float):
        return (value + 1.0, value * 0.5) if value else (1.0,)
    return ()


def _dropped(function: ast.stmt) -> Iterator[tuple[ast.stmt, str, str]]:
    """The function without one statement (docstrings and definitions stay)."""
    bodies = [(p, name) for p, n in enumerate(ast.walk(function)) for name in ("body", "orelse") if _is_body(n, name)]
    for position, name in bodies:
        count = len(getattr(list(ast.walk(function))[position], name))
        for i in range(count):
            changed = copy.deepcopy(function)
            body = getattr(list(ast.walk(changed))[position], name)
            if isinstance(body[i], (ast.FunctionDef, ast.Pass, ast.Raise)) or _is_text(body[i]):
                continue
            before = _line(body[i])
            body[i] = ast.Pass()
            yield changed, before, "dropped"


def _is_body(node: ast.AST, name: str) -> bool:
    return isinstance(getattr(node, name, None), list) and bool(getattr(node, name))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _statement(tree: ast.AST, target: ast.AST) -> ast.AST:
    """The innermost statement that holds the target."""
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return [node for node in holders if any(inner is target for inner in ast.walk(node))][-1]


def _line(statement: ast.AST) -> str:
    return ast.unparse(statement).splitlines()[0]
