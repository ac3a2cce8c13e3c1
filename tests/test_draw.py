"""Drawing a token: greedy, what may be drawn and how often, and who owns the random numbers."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import examples

from llm_gen import filter_logits, generate, sample_next_token, validate_sampling_args

INF = math.inf
SETTINGS = [{}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.6}]
ROWS = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=6, max_size=6), min_size=1, max_size=6)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


class Flat:
    """Every token is as likely as every other; a row's text is nothing but its random numbers."""

    def __init__(self, vocab_size, max_seq_len=1000):
        self.vocab_size, self.max_seq_len = vocab_size, max_seq_len

    def make_cache(self, batch_size):
        return None

    def __call__(self, ids, attention_mask=None, cache=None):
        return torch.zeros(*ids.shape, self.vocab_size)


def test_l08_greedy_takes_the_first_maximum():
    assert sample_next_token(torch.tensor([[3.0, 3.0, 3.0], [1.0, 7.0, 7.0]]), False).tolist() == [[0], [1]]


@given(ROWS)
@examples(60)
def test_k02_k03_top_k_of_one_and_the_smallest_nucleus_equal_greedy(rows):
    logits = torch.tensor(rows)
    greedy = sample_next_token(logits, False)
    assert greedy.tolist() == [[row.index(max(row))] for row in rows]
    for seed in range(5):
        assert sample_next_token(logits, True, top_k=1, generator=seeded(seed)).equal(greedy)
        assert sample_next_token(logits, True, 0.5, top_p=1e-9, generator=seeded(seed)).equal(greedy)


def test_k02_k03_ties_of_the_maximum_never_reach_the_draw():
    for row in ([5.0, 5.0, 1.0], [-0.1944, -0.1944, -0.1945, -0.1945, -0.1945]):
        draws = [sample_next_token(torch.tensor([row]), True, top_k=1, generator=seeded(s)).item() for s in range(50)]
        assert draws == [0] * 50


def test_greedy_ignores_the_other_settings_and_validate_agrees():
    nonsense = {"temperature": -1.0, "top_k": 0, "top_p": 7.0}
    validate_sampling_args(False, **nonsense)
    assert sample_next_token(torch.tensor([[0.0, 2.0, 1.0]]), False, **nonsense).tolist() == [[1]]


@pytest.mark.parametrize("settings", [*SETTINGS, {"temperature": 3.0, "top_k": 3}])
def test_r10_draws_follow_the_filtered_distribution(settings):
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    count = 70000
    tokens = sample_next_token(logits.expand(count, 4), True, **settings, generator=seeded(0))
    counts = tokens[:, 0].bincount(minlength=4)
    for token, p in enumerate(filter_logits(logits, **settings).softmax(-1)[0].tolist()):
        # Five standard deviations; exactly none where the filter dropped the token.
        assert abs(counts[token] - count * p) <= 5 * math.sqrt(count * p * (1 - p))


def test_r01_a_dropped_token_is_never_drawn():
    logits = torch.tensor([[0.33, 0.34, 0.0, 0.33]]).log().expand(1_000_000, 4)
    generator = seeded(0)
    for _ in range(2):
        assert not (sample_next_token(logits, True, generator=generator) == 2).any()


def test_k11_forbidden_tokens_stay_out_of_the_draw():
    logits = torch.tensor([[1.0, -INF, 2.0, -INF, -INF]]).expand(10000, 5)
    assert sample_next_token(logits, True, top_k=4, generator=seeded(0)).unique().tolist() == [0, 2]


def test_k13_nothing_is_filtered_by_default():
    tokens = sample_next_token(torch.zeros(4000, 1000), True, generator=seeded(0))
    assert 0.94 < (tokens >= 50).float().mean().item() < 0.96
    assert filter_logits(torch.zeros(1, 1000)).equal(torch.zeros(1, 1000))


def test_l10_vocabulary_of_one():
    for settings in ({"top_k": 1}, {"top_p": 0.01}, {}, {"temperature": 1e-300}):
        assert sample_next_token(torch.tensor([[0.3]]), True, **settings).tolist() == [[0]]


def test_t01_t06_tiny_temperatures_draw_the_best_token():
    for temperature in (1e-6, 1e-30, 1e-38, 1e-45, 1e-300):
        assert sample_next_token(torch.tensor([[2.0, 5.0, 4.9, -1.0]]), True, temperature).tolist() == [[1]]


@pytest.mark.parametrize("do_sample", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_shape_and_dtype_of_tokens(do_sample, dtype):
    for batch in (0, 1, 3):
        tokens = sample_next_token(torch.zeros(batch, 5, dtype=dtype), do_sample)
        assert tokens.shape == (batch, 1)
        assert tokens.dtype == torch.int64


def test_same_generator_state_gives_the_same_draw_in_every_dtype():
    logits = torch.randint(-16, 16, (50, 40), generator=seeded(1)) / 4
    draws = [
        sample_next_token(logits.to(dtype), True, 0.7, top_p=0.9, generator=seeded(2))
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64)
    ]
    assert all(draw.equal(draws[0]) for draw in draws)


@pytest.mark.parametrize("settings", SETTINGS)
def test_r03_with_a_generator_a_row_its_text_does_not_depend_on_the_batch(settings):
    x = torch.zeros(3, 1, dtype=torch.long)
    alone = [generate(Flat(8), x[:1], 6, True, **settings, generator=[seeded(s)]) for s in range(3)]
    for order in ([0, 1], [1, 0], [2, 0, 1], [0, 1, 2]):
        together = generate(Flat(8), x[: len(order)], 6, True, **settings, generator=[seeded(s) for s in order])
        assert together.equal(torch.cat([alone[s] for s in order]))


def test_r03_one_generator_alone_draws_as_a_list_of_one():
    x = torch.zeros(1, 1, dtype=torch.long)
    one, listed = (generate(Flat(8), x, 6, True, generator=g) for g in (seeded(0), [seeded(0)]))
    assert one.equal(listed)


def test_r03_a_row_that_ends_early_leaves_the_draws_of_the_others_alone():
    x = torch.zeros(2, 1, dtype=torch.long)
    alone = generate(Flat(4), x[:1], 12, True, generator=[seeded(5)])
    for other in range(8):
        both = generate(Flat(4), x, 12, True, generator=[seeded(5), seeded(other)], eos_token_id=3, pad_token_id=0)
        text = alone[0].tolist()
        text = text[: text.index(3, 1) + 1] if 3 in text[1:] else text
        assert both[0, : len(text)].tolist() == text


def test_r04_seeds_decide_the_text():
    runs = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        runs.append(generate(Flat(1000), torch.zeros(1, 1, dtype=torch.long), 20, True))
    assert runs[0].equal(runs[1])
    assert not runs[0].equal(runs[2])


def test_r06_greedy_consumes_no_random_numbers_and_an_own_generator_spares_the_global_one():
    x, own = torch.zeros(2, 1, dtype=torch.long), seeded(0)
    before, own_before = torch.get_rng_state(), own.get_state()
    generate(Flat(8), x, 5, False, generator=own)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(own.get_state(), own_before)
    generate(Flat(8), x, 5, True, generator=own)
    sample_next_token(torch.zeros(2, 8), True, generator=[seeded(1), seeded(2)])
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(own.get_state(), own_before)
