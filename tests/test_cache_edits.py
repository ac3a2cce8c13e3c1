"""A cache that is cut back, or whose rows are chosen anew, goes on as if it had only ever read what is left."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import FAMILIES, ROWS, examples, feed_in_chunks, pad_left, refused, tiny

from llm_gen import KVCache

IDS = torch.randint(0, 31, (2, 12), generator=torch.Generator().manual_seed(0))


def agree(one, other):
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
@given(st.none() | st.integers(1, 5), st.lists(st.integers(0, 11), min_size=1, max_size=4))
@examples(10)
def test_truncate_takes_back_what_was_read(family, window, cuts):
    model = tiny(family, window_size=window)
    whole, kv = model(IDS), model.make_cache(2, rolling=False)
    model(IDS, cache=kv)
    for cut in cuts:
        kv.truncate(cut)
        assert kv.length == cut
        # What was there before must not shine through: read something else first, then take that back too.
        model(IDS.flip(1)[:, : 12 - cut], cache=kv)
        kv.truncate(cut)
        agree(model(IDS[:, cut:], cache=kv), whole[:, cut:])


def test_a_ring_may_be_cut_until_it_has_turned():
    model = tiny("Mistral")
    kv = model.make_cache(2)
    model(IDS[:, :4], cache=kv)
    kv.truncate(2)
    agree(model(IDS[:, 2:], cache=kv), model(IDS)[:, 2:])
    kv.truncate(12)
    refused(lambda: kv.truncate(11), ValueError, ["length", "12", "ring of 4", "11"])
    assert kv.length == 12


def test_an_emptied_cache_forgets_the_padding():
    model, (ids, mask) = tiny("GPT2"), pad_left(ROWS)
    kv = model.make_cache(3)
    model(ids, mask, kv)
    kv.truncate(0)
    agree(feed_in_chunks(model, ids, [5, 1], kv=kv), model(ids))


@pytest.mark.parametrize("rolling", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_select_reorders_drops_and_repeats_rows(family, rolling):
    model, (ids, mask) = tiny(family), pad_left(ROWS)
    kv = model.make_cache(3, rolling=rolling)
    model(ids[:, :7], mask[:, :7], kv)
    for rows in ([2, 0, 0, 1], [3, 1], [1, 1, 1]):
        rows = torch.tensor(rows)
        ids, mask = ids[rows], mask[rows]
        kv.select(rows)
        assert kv.batch_size == len(rows)
        length = kv.length
        new = ids[:, length : length + 1] if length < 8 else IDS[:1, :1].expand(len(rows), 1)
        ids, mask = torch.cat([ids[:, :length], new], dim=1), torch.cat([mask[:, :length], torch.ones_like(new)], dim=1)
        agree(model(new, cache=kv)[:, -1], model(ids, mask)[:, -1])


def test_arguments():
    kv = KVCache(1, 1, 1, 2, 8, 4)
    refused(lambda: kv.truncate(1), ValueError, ["length", "<= the 0 columns", "1"])
    refused(lambda: kv.truncate(-1), ValueError, ["length", ">= 0", "-1"])
    refused(lambda: kv.truncate(1.0), TypeError, ["length", "integer", "1.0"])
    refused(lambda: KVCache(1, 1, 1, 2, 8, 4, rolling=1), TypeError, ["rolling", "True or False", "1"])
