"""Which answers are one and the same piece of code, whatever the names in it are."""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache

from exercises.grader.excerpt import Statement, excerpt, statements

SMALLEST = 40  # nodes: shorter answers are equal because there is one way to write them


def fingerprint(source: str, name: str) -> str:
    """A short hash of the answer's code, the same for code that differs only in names of its own making, comments,
    docstrings, types and imports; "" if it does not parse or is too short to tell anything."""
    try:
        tree = ast.parse(excerpt(_program(source), name))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if sum(1 for _node in ast.walk(tree)) < SMALLEST:
        return ""
    return hashlib.sha256(ast.dump(_Normal(tree).visit(tree)).encode()).hexdigest()[:16]


@lru_cache(maxsize=4)
def _program(source: str) -> list[Statement]:
    return statements([source])


class _Normal(ast.NodeTransformer):
    """Number the program's own names by their order, and drop what does not run."""

    def __init__(self, tree: ast.AST) -> None:
        self._own: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self._own.add(node.name)
            elif isinstance(node, ast.arg):
                self._own.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._own.add(node.id)
        self._numbers: dict[str, str] = {}

    def _named(self, name: str) -> str:
        return self._numbers.setdefault(name, f"name {len(self._numbers)}") if name in self._own else name

    def visit_Import(self, node: ast.Import) -> None:
        return None

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name, node.returns = self._named(node.name), None
        docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        node.body = node.body[docstring:] or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._named(node.arg), None)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value or ast.Constant(None))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._named(node.id)
        return node
