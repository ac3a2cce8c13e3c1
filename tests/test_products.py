"""Every way to a product, beside F.linear in float64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from llm_gen import products
from llm_gen.products import PIECE, SOME_ROWS, Product, in_pieces


@pytest.mark.parametrize("rows", [1, 3, 4, 8, 12, 13])
@pytest.mark.parametrize("out", [40, 3 * PIECE, 3 * PIECE + 7], ids=["less than a piece", "whole pieces", "a rest"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("large", [True, False])
def test_every_way_gives_the_product_and_leaves_its_arguments_alone(rows, out, bias, large, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0 if large else 1_000_000)
    generator = torch.Generator().manual_seed(rows)
    x, weight, shift, added = (
        torch.randn(shape, generator=generator) for shape in [(rows, 96), (out, 96), out, (rows, out)]
    )
    expected = F.linear(x.double(), weight.double(), shift.double() if bias else None)
    before = [part.clone() for part in (x, weight, shift, added)]
    product = Product(weight, shift if bias else None)
    torch.testing.assert_close(product(x), expected.float(), rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(product(x, added), (expected + added).float(), rtol=1e-5, atol=1e-4)
    assert all(map(torch.equal, before, (x, weight, shift, added)))


def test_pieces_are_taken_for_some_rows_of_a_large_float32_matrix_only(monkeypatch):
    taken = []
    monkeypatch.setattr(
        products, "in_pieces", lambda x, weight: taken.append((len(x), x.dtype)) or in_pieces(x, weight)
    )
    large, small = torch.ones(products.LARGE // 100, 100), torch.ones(64, 100)
    given = [large, small, large.double(), large.bfloat16(), large.half()]
    for weight in given:
        for rows in range(1, 20):
            Product(weight)(torch.ones(rows, 100, dtype=weight.dtype))
    assert taken == [(rows, torch.float32) for rows in SOME_ROWS]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_dtype_stays(dtype, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0)
    x, weight = torch.ones(5, 8, dtype=dtype), torch.ones(70, 8, dtype=dtype)
    assert Product(weight)(x).dtype == dtype
    assert Product(weight)(x).eq(8).all()
