"""The part of a program that one name needs: imports, constants, helpers, in the program's order.

It works on source alone, cell by cell, so a cell that does not parse costs only what stands in it. Three things are
made of it: an answer out of a chapter, the helpers of a check without its reference, a cell of the solved edition.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

KEPT_CELL_MAGICS = ("%%time", "%%timeit", "%%capture")
ALL = "*"  # what `from module import *` binds


@dataclass(frozen=True)
class Statement:
    """One statement of the outermost level, with the names that it gives a value, changes in place, looks up."""

    source: str
    binds: frozenset[str]
    changes: frozenset[str]
    uses: frozenset[str]
    imports: bool = False


def statements(cells: Iterable[str]) -> list[Statement]:
    """The statements of all cells that parse; lines for the notebook alone (%, !, ?) are left out."""
    return [statement for cell in cells for statement in _of_cell(without_magics(cell))]


def excerpt(program: Iterable[Statement], *names: str) -> str:
    """What the names need, as source; "" if nothing binds the first of them."""
    program = list(program)
    if not any(names[0] in statement.binds for statement in program):
        return ""
    modules = {name for statement in program if statement.imports for name in statement.binds}
    needed, chosen, grows = {*names, ALL}, set(), True
    while grows:
        found = {i for i, each in enumerate(program) if (each.binds | (each.changes - modules)) & needed}
        chosen, grows = found, found != chosen
        needed |= {name for i in chosen for name in program[i].uses}
    return "\n".join(program[i].source for i in sorted(chosen)) + "\n"


def without_magics(cell: str) -> str:
    """The cell as Python: IPython's lines become `pass`; a cell in another language becomes empty."""
    lines = cell.replace("\r\n", "\n").split("\n")
    if lines[0].startswith("%%"):
        lines = lines[1:] if lines[0].split()[0] in KEPT_CELL_MAGICS else []
    return "\n".join(_plain(line) for line in lines)


def _plain(line: str) -> str:
    code = line.lstrip()
    return line[: len(line) - len(code)] + "pass" if code[:1] in ("%", "!", "?") else line


def parses(cell: str) -> bool:
    try:
        ast.parse(without_magics(cell))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # null bytes, and nesting without end
        return False
    return True


def _of_cell(source: str) -> Iterator[Statement]:
    if not parses(source):
        return
    for node in ast.parse(source).body:
        segment = _segment(source, node)
        try:
            table = symtable.symtable(segment, "<cell>", "exec")
        except (SyntaxError, RecursionError):  # `return` outside a function parses and does not compile
            continue
        bound = {name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()}
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        binds = bound or ({ALL} if imports else set())
        yield Statement(segment, *map(frozenset, (binds, _changed(node), _looked_up(table))), imports)


def _segment(source: str, node: ast.stmt) -> str:
    """The statement's lines, decorators with it."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    lines = source.encode().split(b"\n")[first - 1 : node.end_lineno]
    alone = first == node.lineno
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset if alone else 0 :]
    return b"\n".join(lines).decode()


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names whose value is changed in place: `rows[0] = 1`, `rows.append(1)`."""
    for inner in ast.walk(node) if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
        called = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call)
        owner = inner.value.func if called else inner
        if not isinstance(owner, (ast.Subscript, ast.Attribute)) or not (called or isinstance(owner.ctx, ast.Store)):
            continue
        while isinstance(owner, (ast.Subscript, ast.Attribute)):
            owner = owner.value
        if isinstance(owner, ast.Name):
            yield owner.id


def _looked_up(table: symtable.SymbolTable) -> Iterator[str]:
    """Global names that are read, at any depth."""
    outermost = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (outermost or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _looked_up(inner)
