"""Every way to a product, beside F.linear in float64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from llm_gen import products
from llm_gen.products import PIECE, Product

WAYS = {"AVX-512": (range(0), range(4, 13)), "AVX2": (range(1, 5), range(5, 65))}


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 12, 13, 65])
@pytest.mark.parametrize("out", [5, 40, 3 * PIECE, 3 * PIECE + 7], ids=["few", "no piece", "whole pieces", "a rest"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("ways", WAYS)
def test_every_way_gives_the_product_and_leaves_its_arguments_alone(rows, out, bias, large, ways, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0 if large else 1_000_000)
    monkeypatch.setattr(products, "FEW_ROWS", WAYS[ways][0])
    monkeypatch.setattr(products, "SOME_ROWS", WAYS[ways][1])
    generator = torch.Generator().manual_seed(rows)
    x, weight, shift, added = (
        torch.randn(shape, generator=generator) for shape in [(rows, 96), (out, 96), out, (rows, out)]
    )
    expected = F.linear(x.double(), weight.double(), shift.double() if bias else None)
    before = [part.clone() for part in (x, weight, shift, added)]
    product = Product(weight, shift if bias else None)
    torch.testing.assert_close(product(x), expected.float(), rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(product(x, added), (expected + added).float(), rtol=1e-5, atol=1e-4)
    assert product(x).is_contiguous() and product(x).stride(0) == out
    assert all(map(torch.equal, before, (x, weight, shift, added)))


@pytest.mark.parametrize("ways", WAYS)
def test_a_large_float32_matrix_is_cut_for_the_rows_that_gain_by_it_only(ways, monkeypatch):
    few, some = WAYS[ways]
    taken = []
    for name, rows in (("FEW_ROWS", few), ("SOME_ROWS", some)):
        monkeypatch.setattr(products, name, rows)
    for name in ("in_parts", "in_pieces"):
        way = getattr(products, name)
        monkeypatch.setattr(
            products, name, lambda x, *parts, name=name, way=way: taken.append((name, len(x))) or way(x, *parts)
        )
    large, small = torch.ones(products.LARGE // 100, 100), torch.ones(64, 100)
    for weight in [large, small, large.double(), large.bfloat16(), large.half(), large.to("meta")]:
        for rows in range(1, 70):
            Product(weight)(torch.ones(rows, 100, dtype=weight.dtype, device=weight.device))
    assert taken == [("in_parts", rows) for rows in few] + [("in_pieces", rows) for rows in some]


def test_the_ways_of_this_machine_are_among_those_tested():
    assert (products.FEW_ROWS, products.SOME_ROWS) in WAYS.values()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_dtype_stays(dtype, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0)
    x, weight = torch.ones(5, 8, dtype=dtype), torch.ones(70, 8, dtype=dtype)
    assert Product(weight)(x).dtype == dtype
    assert Product(weight)(x).eq(8).all()
