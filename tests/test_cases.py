"""The cases of cases/generation.jsonl: those with data run from the file, the others are tests named after their id.

A test covers a case when its name or the id of one of its parameters holds the case's id, such as P01 in
`test_p01_...` or in `id="P01-..."`. The last test here sees to it that no case is forgotten.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
import torch
from stubs import Stub, kept_ids

from llm_gen import filter_logits, generate
from llm_gen.story.metrics import entropy

HERE = Path(__file__).parent
CASES = {
    case["id"]: case for case in map(json.loads, (HERE / "cases/generation.jsonl").read_text("utf-8").splitlines())
}
DATA = {name: case["data"] for name, case in CASES.items() if "data" in case}
FILTERS = [name for name, data in DATA.items() if data["fn"] == "filter_logits"]
GENERATIONS = [name for name, data in DATA.items() if data["fn"] == "generate"]
SETTINGS = ("temperature", "top_k", "top_p")
# Covered by a test that is named after what it holds.
UNDER_ANOTHER_NAME = {
    "J14": "test_mode_and_random_state_are_left_as_they_were",
    "M18": "test_several_prompts_are_each_continued_alone",
    "W01": "test_conv1d_weights_are_transposed",
    "W02": "test_buffers_of_older_versions_are_ignored",
}


def logits_of(data: dict) -> torch.Tensor:
    if "probs" in data:
        return torch.tensor(data["probs"], dtype=torch.float64).log().float()
    return torch.tensor([[float(value) for value in row] for row in data["logits"]])


@pytest.mark.parametrize("name", FILTERS)
def test_filter_case(name):
    data, logits = DATA[name], logits_of(DATA[name])
    sweep = data.get("sweep", {data.get("top_p"): data.get("kept")})
    for top_p, kept in sweep.items():
        settings = {key: data[key] for key in SETTINGS if key in data}
        if top_p is not None:
            settings["top_p"] = float(top_p)
        filtered = filter_logits(logits, **settings)
        if kept is not None:
            assert kept_ids(filtered) == kept
        if "out_probs" in data:
            expected = torch.tensor(data["out_probs"], dtype=torch.float32)
            torch.testing.assert_close(filtered.softmax(-1), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("use_cache", [True, False], ids=["cached", "uncached"])
@pytest.mark.parametrize("name", GENERATIONS)
def test_generation_case(name, use_cache):
    data = DATA[name]
    model = Stub(data["stub"], data["V"], data.get("M", 1000), cached=True)
    out = generate(
        model,
        torch.tensor(data["x"]),
        data["max_new_tokens"],
        do_sample=False,
        use_cache=use_cache,
        attention_mask=torch.tensor(data["mask"]) if "mask" in data else None,
        eos_token_id=data.get("eos"),
        pad_token_id=data.get("pad"),
    )
    assert out.tolist() == data["out"]
    assert out.dtype == torch.int64
    assert len(model.fed) == out.shape[1] - len(data["x"][0]), "one forward pass a new column"


def test_j12_entropy_of_a_filtered_distribution():
    assert entropy(torch.tensor([[0.5, 0.5, 0.0]])).item() == pytest.approx(0.69314718)


def names_of_tests(tree: ast.AST) -> list[str]:
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def parameter_ids(tree: ast.AST) -> list[str]:
    """All texts in `id=` and `ids=`."""
    keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg in ("id", "ids")]
    return [str(node.value) for keyword in keywords for node in ast.walk(keyword) if isinstance(node, ast.Constant)]


def test_every_case_is_covered():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in HERE.glob("test_*.py")]
    names = {name for tree in trees for name in names_of_tests(tree)}
    texts = [name.upper() for name in names] + [text for tree in trees for text in parameter_ids(tree)]
    named = {case for text in texts for case in re.findall(r"(?<![A-Za-z0-9])[A-Z]\d\d(?![A-Za-z0-9])", text)}
    assert len(CASES) == 108
    assert set(UNDER_ANOTHER_NAME.values()) <= names
    assert set(CASES) - named - {*FILTERS, *GENERATIONS} - set(UNDER_ANOTHER_NAME) == set()
