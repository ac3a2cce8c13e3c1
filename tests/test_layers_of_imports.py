"""Who may import whom, read from the source: no module is run, so a lazy import counts as much as any other."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent

# Lowest first: a folder imports only from itself and from those before it.
FOLDERS = ["llm_gen", "solutions", "exercises", "notebooks"]
MAY_IMPORT_ALL = {"tests", "benchmarks"}

# Lowest first: a file of llm_gen imports only from its own folder and from those before it. "llm_gen" is the face of
# the package, with the public names; the programs stand above it.
LAYERS = [
    ["text"],
    ["checks"],
    ["config"],
    ["scaling"],
    ["nucleus"],
    ["sampling"],
    ["spelling"],
    ["tokenizer"],
    ["families"],
    ["layers"],
    ["products"],
    ["quantized"],
    ["cache"],
    ["attention"],
    ["model"],
    ["decode"],
    ["compiled"],
    ["weights"],
    ["steps"],
    ["generation"],
    ["beyond"],
    ["rollout"],
    ["story"],
    ["answer"],
    ["chat"],
    ["cli"],
    ["llm_gen"],
    ["__main__", "train_tiny"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

RUNTIME = {"torch", "safetensors", "tokenizers"}
ONLY_FOR_GGUF = {"gguf", "numpy"}
ONLY_FOR_A_CLUSTER = {"distributed"}


@dataclass(frozen=True)
class Import:
    """One import: the module it names, and whether it waits for a function to be called."""

    target: str
    lazy: bool

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb"))


def imports_of(name: str) -> list[Import]:
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return imports_in(ast.parse(path.read_text(encoding="utf-8")), package)


def imports_in(tree: ast.AST, package: str, lazy: bool = False) -> list[Import]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, lazy) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [Import(target, lazy) for target in targets_of(node, package)]
        else:
            inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            found += imports_in(node, package, lazy or inside)
    return found


def targets_of(node: ast.ImportFrom, package: str) -> list[str]:
    """The modules behind `from base import a, b`: base.a where that is a module, else base."""
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
    full = [f"{base}.{alias.name}" for alias in node.names]
    return sorted({name if name in MODULES else base for name in full})


def layer_of(name: str) -> str:
    """The layer of a module of llm_gen: llm_gen.weights.gguf gives "weights"."""
    return name.split(".")[1] if "." in name else name


def wrong_imports_in_llm_gen(name: str, imports: list[Import]) -> list[str]:
    own = layer_of(name)
    inside = {layer_of(each.target) for each in imports if each.top == "llm_gen"}
    return sorted(layer for layer in inside - {own} if RANK.get(layer, len(LAYERS)) >= RANK.get(own, -1))


def wrong_folders(folder: str, imports: list[Import]) -> list[str]:
    above = {*FOLDERS[FOLDERS.index(folder) + 1 :], *MAY_IMPORT_ALL, "course"}
    return sorted(each.target for each in imports if each.top in above)


def test_every_python_file_has_its_place():
    known = {*FOLDERS, *MAY_IMPORT_ALL}
    files = [path.relative_to(ROOT) for path in ROOT.rglob("*.py") if not hidden_or_built(path)]
    assert [str(path) for path in files if path.parts[0] not in known and str(path) != "course.py"] == []
    assert {layer_of(name) for name in MODULES if name.startswith("llm_gen")} <= set(RANK)


def hidden_or_built(path: Path) -> bool:
    return any(part.startswith(".") or part == "build" for part in path.relative_to(ROOT).parts)


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("llm_gen")])
def test_llm_gen_imports_only_from_lower_layers(name):
    assert wrong_imports_in_llm_gen(name, imports_of(name)) == []


@pytest.mark.parametrize("name", MODULES)
def test_folders_import_only_downwards(name):
    assert wrong_folders(name.partition(".")[0], imports_of(name)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_chapters_import_only_downwards(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    imports = [found for source in cells for found in imports_in(ast.parse(source), "notebooks")]
    assert wrong_folders("notebooks", imports) == []


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("notebooks")])
def test_only_the_runtime_packages_are_needed(name):
    others = [each for each in imports_of(name) if each.top not in {*sys.stdlib_module_names, *FOLDERS, *RUNTIME}]
    if name.startswith("llm_gen.weights"):
        others = [each for each in others if not (each.top in ONLY_FOR_GGUF and each.lazy)]
    if name == "exercises.classroom.dask_run":
        others = [each for each in others if each.top not in ONLY_FOR_A_CLUSTER]
    assert others == []


def test_a_bare_python_can_start_the_course():
    course = imports_in(ast.parse((ROOT / "course.py").read_text(encoding="utf-8")), "")
    of_course = {each.target for each in course if each.top not in sys.stdlib_module_names}
    assert of_course == {"notebooks.environment"}
    for name in {"notebooks", "notebooks.environment"} & set(MODULES):
        assert {each.top for each in imports_of(name)} <= sys.stdlib_module_names


def test_no_module_imports_itself_in_a_circle():
    graph = {name: {each.target for each in imports_of(name) if not each.lazy} - {name} for name in MODULES}
    order = list(TopologicalSorter(graph).static_order())
    assert set(MODULES) <= set(order)


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("llm_gen.cache", "from llm_gen import attention", ["attention"]),
        ("llm_gen.cache", "from llm_gen.model import DecoderLM", ["model"]),
        ("llm_gen.cache", "from llm_gen import DecoderLM", ["llm_gen"]),
        ("llm_gen.cache", "def late():\n    from . import model", ["model"]),
        ("llm_gen.weights.gguf", "from ..generation import generate", ["generation"]),
        ("llm_gen.train_tiny", "import llm_gen.__main__", ["__main__"]),
        ("llm_gen.weights.gguf", "from .files import read\nfrom llm_gen.model import DecoderLM", []),
        ("llm_gen.train_tiny", "from llm_gen import DecoderLM", []),
    ],
)
def test_the_rule_of_layers_bites(name, source, wrong):
    assert wrong_imports_in_llm_gen(name, imports_in(ast.parse(source), name.rpartition(".")[0])) == wrong


@pytest.mark.parametrize(
    ("folder", "source", "wrong"),
    [
        ("llm_gen", "import solutions", ["solutions"]),
        ("solutions", "from exercises import check", ["exercises"]),
        ("exercises", "if True:\n    from notebooks import panels", ["notebooks.panels"]),
        ("notebooks", "import tests.conftest", ["tests.conftest"]),
        ("notebooks", "from exercises import check\nimport torch", []),
    ],
)
def test_the_rule_of_folders_bites(folder, source, wrong):
    assert wrong_folders(folder, imports_in(ast.parse(source), folder)) == wrong
