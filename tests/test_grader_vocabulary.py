"""The words of the solution pages: comparison, inputs, shrinking, tables and choices."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from solutions.vocabulary import (
    Check,
    Choice,
    Counterexample,
    Ids,
    ListOf,
    Logits,
    Mask,
    Numbers,
    OneOf,
    Order,
    Outcome,
    Probs,
    Reals,
    Uniforms,
    Whole,
    difference,
    fails,
    identical,
    observe,
    shrink,
)
from solutions.vocabulary.cases import Inputs

TENSOR = torch.tensor([[1.0, 2.0]])


def found(expected, got, **more):
    return difference(Outcome("answer", expected), Outcome("answer", got), **more)


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (1.0, "1", "type"),
        (1.0, True, "type"),
        (1, 1.0, "type"),
        (1, True, "type"),
        (True, 1, "type"),
        ((1, 2), [1, 2], "type"),
        (None, 0, "type"),
        (TENSOR, [[1.0, 2.0]], "type"),
        (TENSOR, TENSOR[0], "shape"),
        (TENSOR, TENSOR.expand(2, 2), "shape"),
        (torch.tensor(1.0), torch.tensor([1.0]), "shape"),
        (TENSOR, TENSOR.double(), "dtype"),
        (TENSOR.long(), TENSOR.int(), "dtype"),
        (TENSOR.bool(), TENSOR.long(), "dtype"),
        (TENSOR, TENSOR * math.nan, "nan"),
        (1.0, math.nan, "nan"),
        (math.nan, 1.0, "value"),
        (math.inf, 1e300, "value"),
        (1e300, math.inf, "value"),
        (TENSOR, TENSOR + 0.001, "value"),
        ([1, 2], [1, 2, 3], "shape"),
        ({"a": 1}, {"b": 1}, "value"),
        ({"a": 1}, {"a": 1, "b": 1}, "value"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "value"),
    ],
)
def test_the_comparison_is_strict(expected, got, kind):
    assert found(expected, got).kind == kind


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1.0, 1),
        (1.0, 1.000001),
        (math.nan, math.nan),
        (-math.inf, -math.inf),
        (TENSOR * math.nan, TENSOR * math.nan),
        (torch.tensor([-math.inf, 1.0]), torch.tensor([-math.inf, 1.000001])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        ({"a": [TENSOR, "b"]}, {"a": [TENSOR.clone(), "b"]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_what_is_equal_is_equal(expected, got):
    assert found(expected, got) is None


def test_the_first_difference_says_where():
    assert found(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [5.0, 9.0]])).text == (
        "at [1, 0]: expected 3, got 5"
    )
    assert found({"a": [1, 2]}, {"a": [1, 3]}).text == "at ['a'][1]: expected 2, got 3"
    assert found(0.123456, 0.123457, tolerance=1e-9).text == "expected 0.123456, got 0.123457"


def test_errors_are_compared_by_class_and_side_effects_come_last():
    raised = Outcome("error", error=("ValueError", "Exception", "BaseException"))
    deeper = Outcome("error", error=("KeyError", "LookupError", "Exception", "BaseException"))
    value = Outcome("answer", 1)
    assert difference(raised, raised) is None
    assert difference(Outcome("error", error=("LookupError",)), deeper) is None
    assert difference(raised, deeper).kind == "error"
    assert difference(raised, value).kind == "no error"
    assert difference(value, raised).kind == "error"
    assert difference(value, Outcome("answer", 1, mutated=(0,)), ["logits"]).text.endswith(
        "argument logits was changed"
    )
    assert difference(value, Outcome("answer", 2, mutated=(0,)), ["logits"]).kind == "value"
    assert difference(value, Outcome("answer", 1, disturbed=("the dtype",))).kind == "side effect"


def test_observing_sees_changed_and_shared_arguments():
    assert observe(lambda x: x.add_(1), (TENSOR,)).mutated == (0,)
    assert observe(lambda x, y: y[0], (TENSOR, TENSOR)).shared == (1,)
    assert observe(lambda x: x.clone(), (TENSOR,)).shared == ()
    assert observe(lambda rows: rows.append(1), ([0],)).mutated == (0,)
    assert observe(lambda x: 1 / 0, (1,)).error[:2] == ("ZeroDivisionError", "ArithmeticError")
    assert identical(math.nan, math.nan) and not identical(1, True) and not identical([1], (1,))


KINDS = {
    "reals": Reals("B", "V"),
    "logits": Logits("*", "V"),
    "probs": Probs("B", "V"),
    "uniforms": Uniforms("B"),
    "ids": Ids("B", "T", below="V"),
    "mask": Mask("B", "T"),
    "one": OneOf(1.0, 2.0, lambda sizes: sizes["V"]),
    "whole": Whole(1, 9),
    "list": ListOf(Whole(0, 3)),
}


def cases_of(**kinds):
    return Inputs(kinds).cases()


def test_the_inputs_are_always_the_same_and_none_comes_twice():
    first, second = cases_of(**KINDS), cases_of(**KINDS)
    assert [repr(case) for case in first] == [repr(case) for case in second]
    assert len({repr(case.args) for case in first}) == len(first)


def test_the_inputs_hold_what_a_judge_must_try():
    args = [case.args for case in cases_of(**KINDS)]
    logits, probs, mask = ([a[i] for a in args] for i in (1, 2, 5))
    shapes = {tuple(t.shape) for t in probs}
    assert (1, 1) in shapes and (3, 3) in shapes and any(b < v for b, v in shapes) and any(b > v for b, v in shapes)
    assert {t.ndim for t in logits} == {1, 2, 3}
    assert {t.dtype for t in logits} == {torch.float32, torch.float64}
    assert any(not t.is_contiguous() for t in logits)
    assert any(t.isinf().any() for t in logits) and any((t.abs() >= 1000).any() for t in logits)
    assert any(len(set(t.flatten().tolist())) == 1 and t.numel() > 1 for t in logits)
    assert any((t == 0).any() for t in probs)
    assert any(m.all() for m in mask) and any(m.sum() == len(m) < m.numel() for m in mask)
    assert any(a[8] == [] for a in args)
    assert {case.group for case in cases_of(**KINDS)} == {"basic", "shapes", "edges"}


def test_tensors_that_need_one_dtype_are_tried_in_float64_too():
    kinds = {"a": Reals("T"), "b": Probs("T"), "ids": Ids("T", below=3)}
    cases = Inputs(kinds, valid=lambda a, b, ids: a.dtype == b.dtype).cases()
    assert {case.args[0].dtype for case in cases} == {torch.float32, torch.float64}


def test_every_kind_keeps_its_promise():
    for case in cases_of(**KINDS):
        _reals, logits, probs, uniforms, ids, mask, _one, whole, _list = case.args
        assert logits.amax(dim=-1).isfinite().all()
        assert torch.allclose(probs.sum(dim=-1), torch.ones(len(probs), dtype=probs.dtype))
        assert (uniforms >= 0).all() and (uniforms < 1).all()
        assert (ids >= 0).all() and (ids < probs.shape[1]).all()
        assert mask[:, -1].all() and not (mask[:, :-1] & ~mask[:, 1:] & 1).any()
        assert 1 <= whole <= 9


def test_shrinking_ends_at_the_smallest_input_and_keeps_the_rules():
    inputs = Inputs({"probs": Probs("B", "V"), "ids": Ids("B", "T", below=9), "limit": OneOf(1, 5, 9)})
    start = (torch.full((3, 4), 0.25), torch.full((3, 2), 7), 9)
    tried = []

    def fails_with_two_tokens(args):
        tried.append(args)
        return args[0].shape[1] >= 2

    probs, ids, limit = shrink(start, inputs, fails_with_two_tokens)
    assert probs.shape == (1, 2) and ids.tolist() == [[0]] and limit == 1
    assert all(len(p) == len(i) and torch.equal(p.sum(-1), torch.ones(len(p))) for p, i, _limit in tried)


def test_shrinking_keeps_a_square_argument_square():
    seen = []

    def fails_from_two_on(args):
        seen.append(args[1].shape)
        return len(args[0]) >= 2

    start = (torch.full((4,), 0.25), torch.full((4, 4), 0.25))
    first, second = shrink(start, Inputs({"first": Probs("V"), "second": Probs("V", "V")}), fails_from_two_on)
    assert (first.shape, second.shape) == ((2,), (2, 2))
    assert all(rows == columns for rows, columns in seen)
    assert torch.allclose(second.sum(dim=-1), torch.ones(2))


def test_shrinking_tries_only_valid_inputs_and_gives_up_in_time():
    tried = []

    def always(args):
        tried.append(args)
        return True

    even = Inputs({"x": Reals("V")}, valid=lambda x: len(x) % 2 == 0)
    assert len(shrink((torch.ones(6),), even, always)[0]) == 6
    assert shrink((10**9,), Inputs({"n": Whole(0, 10**9)}), always) == (0,)
    endless = Inputs({"n": Whole(-(10**9), 10**9)})
    tried.clear()
    shrink((10**9,), endless, lambda args: always(args) and args[0] % 2 == 1)
    assert len(tried) <= 150


def double(x: Tensor) -> Tensor:
    return x * 2


def test_a_check_raises_the_counterexample():
    check = Check(double, x=Reals("B", "V"))
    check(double)
    check(lambda x: x + x)
    with pytest.raises(Counterexample, match=r"x=tensor.*: (at|shape)"):
        check(lambda x: x**2)
    with pytest.raises(Counterexample, match="argument x was changed"):
        check(lambda x: x.mul_(2))
    with pytest.raises(Counterexample, match="ZeroDivisionError"):
        check(lambda x: 1 / 0)
    assert fails("shape")(double).fails == "shape"


def table() -> dict[str, list[float]]:
    return {"first": [0.25, 0.75], "second": [1.0, 0.0]}


def test_numbers_are_compared_entry_by_entry_with_an_absolute_tolerance():
    check = Numbers(table, tolerance=0.01)
    check({"second": [1, 0], "first": [0.2501, 0.7499]})
    entries = check.entries({"first": [0.25, 0.8], "second": [..., None]})
    assert [entry.right for entry in entries] == [True, False, False, False]
    assert [entry.filled for entry in entries] == [True, True, False, False]
    assert [entry.place for entry in entries][:2] == [("first", 1), ("first", 2)]
    with pytest.raises(Counterexample, match="first, entry 2"):
        check({"first": [0.25, 0.8], "second": [1, 0]})


@pytest.mark.parametrize(
    "value", [3, "text", {"first": [0.25, 0.75]}, {"first": [0.25], "second": [1, 0]}, {"first": 1, "second": [1, 0]}]
)
def test_another_form_is_said_so(value):
    with pytest.raises(ValueError, match="asked for"):
        Numbers(table).entries(value)


@pytest.mark.parametrize("value", [True, "0.25", 0.2, math.nan, math.inf, [0.25]])
def test_only_a_number_is_a_number(value):
    assert not Numbers(lambda: 0.25, tolerance=0.01).entries(value)[0].right


def test_a_whole_number_is_one_whatever_its_type_and_nothing_else_is():
    check = Numbers(lambda: 7, tolerance=0.5)
    assert check.entries(7)[0].right and check.entries(7.0)[0].right
    assert not any(check.entries(value)[0].right for value in (7.001, 8.0, "7", math.inf, math.nan, [7]))
    assert not Numbers(lambda: 1).entries(True)[0].right
    ranks = Numbers(lambda: {1, 2})
    assert ranks.entries({1.0, 2})[0].right and not ranks.entries({True, 2})[0].right


def test_choices_and_orders():
    several = Choice(lambda: ["a", "c"])
    assert all(several.entries(value)[0].right for value in (["c", "a"], ("A ", "c"), {"a", "C"}))
    assert not any(several.entries(value)[0].right for value in ([], ["a"], ["a", "b", "c"], "ac", "a", 1))
    order = Order(lambda: ["b", "a"])
    assert [entry.right for entry in order.entries(["b", "b"])] == [True, False]
    assert Numbers(lambda: {1, 2}).entries([2, 1])[0].right and not Numbers(lambda: {1, 2}).entries([1])[0].right
