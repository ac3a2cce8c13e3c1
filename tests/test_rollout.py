"""Log-probs of sampled and given answers: recorded = recomputed, on every family, in every setting."""

import math

import pytest
import torch
from torch import nn

import llm_gen
from llm_gen import batched_generate, compute_logprobs, generate, generate_with_logprobs

BIGRAM = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
FAMILIES = ["GPT", "GPT2", "LLaMA", "Mistral", "Mixtral", "Gemma"]
SETTINGS = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0, "top_k": 5},
    {"temperature": 1.3, "top_p": 0.8},
    {"top_k": 1},
]


class Bigram:
    """p(next | last token), from a table; it remembers nothing."""

    vocab_size, max_seq_len = 3, 16

    def __call__(self, ids, attention_mask=None, cache=None):
        return BIGRAM.log()[ids]

    def make_cache(self, batch_size):
        return None


class LenPeak:
    """Logit ln 9 on id (visible length mod 10), so that each probability tells how much was seen."""

    vocab_size, max_seq_len = 10, 4

    def __call__(self, ids, attention_mask=None, cache=None):
        seen = torch.ones_like(ids) if attention_mask is None else attention_mask.long()
        peak = (seen.cumsum(1) % 10)[..., None] == torch.arange(10)
        return peak * math.log(9)

    def make_cache(self, batch_size):
        return None


def tiny(name, dropout=0.0, **more):
    torch.manual_seed(0)
    config = {"vocab_size": 31, "embed_dim": 32, "num_heads": 4, "num_layers": 2, "max_position_embeddings": 24}
    config |= {"dropout": dropout, **({} if name.startswith("GPT") else {"num_kv_heads": 2}), **more}
    if name == "Mistral":
        config["window_size"] = 6
    model = getattr(llm_gen, name)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=0.35)
    return model


def padded_prompts():
    ids = torch.tensor([[7, 7, 7, 5, 6], [3, 1, 4, 1, 5], [7, 2, 7, 1, 8]])
    mask = torch.tensor([[0, 0, 0, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    return ids, mask


def everything(sequences):
    return torch.ones_like(sequences)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (1.0, [-1.2039728043, -1.2039728043, -1.6094379124]),
        (0.5, [-1.4403615824, -1.6314168191, -2.3978952728]),
        (2.0, [-1.1338156600, -1.0957962700, -1.3169579000]),
    ],
    ids=["J01", "J02-cold", "J02-hot"],
)
def test_logits_predict_the_next_token_at_the_temperature(temperature, expected):
    sequences = torch.tensor([[0, 1, 2, 1]])
    log_probs, mask = compute_logprobs(Bigram(), sequences, everything(sequences), temperature=temperature)
    assert mask.tolist() == [[True, True, True]]
    torch.testing.assert_close(log_probs, torch.tensor([expected]), atol=1e-6, rtol=0)


def test_j04_filtered_and_full_log_probs_are_two_things():
    sequences = torch.tensor([[0, 1, 2, 2]])
    filtered, _ = compute_logprobs(Bigram(), sequences, everything(sequences), top_k=2)
    full, _ = compute_logprobs(Bigram(), sequences, everything(sequences))
    # p(.|2) = (.2, .2, .6): the tie for the second place goes to the lower id, so the kept mass is .8.
    torch.testing.assert_close(filtered.exp(), torch.tensor([[0.375, 1 / 3, 0.75]]))
    torch.testing.assert_close(full.exp(), torch.tensor([[0.3, 0.3, 0.6]]))


def test_j09_greedy_is_certain_under_its_one_hot_and_not_under_the_model():
    batch = generate_with_logprobs(Bigram(), torch.tensor([[0]]), 3, temperature=1.0, top_k=1, stop_tokens=())
    assert batch.sequences.tolist() == [[0, 0, 0, 0]]
    assert batch.log_probs.tolist() == [[0.0, 0.0, 0.0]]
    torch.testing.assert_close(batch.full_log_probs, torch.full((1, 3), math.log(0.5)))


def test_j10_each_target_past_the_context_sees_its_own_window():
    model = LenPeak()
    sequences = generate(model, torch.tensor([[1, 2]]), 5, False)
    assert sequences.tolist() == [[1, 2, 2, 3, 4, 4, 4]]
    response = torch.tensor([[0, 0, 1, 1, 1, 1, 1]])
    log_probs, mask = compute_logprobs(model, sequences, response)
    torch.testing.assert_close(log_probs[mask], torch.full((5,), math.log(0.5)))
    batch = generate_with_logprobs(model, torch.tensor([[1, 2]]), 5, top_k=1, stop_tokens=(), pad_id=0)
    assert batch.sequences.shape == (1, 4)


def test_j05_bfloat16_logits_are_scored_in_float32():
    class Flat(Bigram):
        vocab_size = 131072

        def __call__(self, ids, attention_mask=None, cache=None):
            return torch.zeros(*ids.shape, self.vocab_size, dtype=torch.bfloat16)

    sequences = torch.tensor([[0, 5]])
    log_probs, _ = compute_logprobs(Flat(), sequences, everything(sequences))
    assert log_probs.dtype == torch.float32
    assert log_probs.item() == pytest.approx(-math.log(131072), abs=1e-5)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_recomputed_equals_recorded(name, settings):
    """In float64, so that the rounding of some processor's float32 kernels does not decide."""
    model = tiny(name).double()
    ids, mask = padded_prompts()
    batch = generate_with_logprobs(
        model, ids, 12, **settings, stop_tokens=(4, 9), pad_id=7, attention_mask=mask,
        generator=torch.Generator().manual_seed(1),
    )  # fmt: skip
    response = batch.response_mask
    again, kept = compute_logprobs(model, batch.sequences, response, **settings, attention_mask=mask)
    torch.testing.assert_close(again, batch.log_probs, atol=1e-5, rtol=0)
    assert torch.equal(kept, response[:, 1:])
    temperature = settings.get("temperature", 1.0)
    full, _ = compute_logprobs(model, batch.sequences, response, temperature=temperature, attention_mask=mask)
    torch.testing.assert_close(full, batch.full_log_probs, atol=1e-5, rtol=0)
    assert response[:, batch.prompt_len :].any(1).all() and not response[:, : batch.prompt_len].any()


@pytest.mark.parametrize("name", FAMILIES)
def test_long_answers_are_scored_through_their_windows(name):
    model = tiny(name)
    ids, mask = padded_prompts()
    sequences = generate(model, ids, 25, False, attention_mask=mask)
    response = torch.zeros_like(sequences)
    response[:, ids.shape[1] :] = 1
    settings = {"top_k": 1}
    log_probs, _ = compute_logprobs(model, sequences, response, **settings, attention_mask=mask, requires_grad=False)
    assert log_probs.eq(0).all(), "greedy tokens are certain under the greedy distribution, each in its own window"


def test_j07_a_padded_row_scores_as_it_does_alone():
    model = tiny("GPT2")
    ids, mask = padded_prompts()
    batch = generate_with_logprobs(model, ids, 6, top_k=3, stop_tokens=(), pad_id=7, attention_mask=mask)
    for row, padding in enumerate((3, 0, 1)):
        alone, _ = compute_logprobs(
            model, batch.sequences[row : row + 1, padding:], batch.response_mask[row : row + 1, padding:], top_k=3
        )
        torch.testing.assert_close(alone[:, -6:], batch.log_probs[row : row + 1, -6:], atol=1e-5, rtol=0)


def test_e19_the_stop_token_counts_and_the_padding_after_it_does_not():
    class Script(Bigram):
        vocab_size, max_seq_len = 10, 16

        def __call__(self, ids, attention_mask=None, cache=None):
            return 50.0 * nn.functional.one_hot((ids + 1) % 10, 10).float()

    batch = generate_with_logprobs(Script(), torch.tensor([[1], [7]]), 4, stop_tokens=9, pad_id=9)
    assert batch.sequences.tolist() == [[1, 2, 3, 4, 5], [7, 8, 9, 9, 9]]
    assert batch.response_mask.int().tolist() == [[0, 1, 1, 1, 1], [0, 1, 1, 0, 0]]


def test_gradients_equal_finite_differences():
    torch.manual_seed(0)
    model = llm_gen.LLaMA(
        {"vocab_size": 7, "embed_dim": 8, "num_heads": 2, "num_layers": 1, "max_position_embeddings": 8}
    )
    model = model.double()
    batch = generate_with_logprobs(model, torch.tensor([[1, 2]]), 2, temperature=0.7, top_k=5, stop_tokens=())
    weight = model.blocks[0].mlp.down.weight

    def loss():
        return compute_logprobs(model, batch.sequences, batch.response_mask, temperature=0.7, top_k=5)[0].sum()

    loss().backward()
    steepest = weight.grad.abs().flatten().topk(3).indices.tolist()
    for place in (divmod(index, weight.shape[1]) for index in steepest):
        values = []
        for step in (1e-2, -1e-2):
            with torch.no_grad():
                weight[place] += step
                values.append(loss().item())
                weight[place] -= step
        slope = (values[0] - values[1]) / 2e-2
        # Log-probs come in float32: two of them, each off by a last place, over the step.
        assert weight.grad[place].item() == pytest.approx(slope, rel=1e-2, abs=3e-5)
        assert abs(slope) > 5e-3


def test_one_reinforce_step_makes_a_rewarded_token_likelier():
    model = tiny("LLaMA", dropout=0.1)
    prompt = torch.tensor([[3, 1, 4]]).repeat(64, 1)
    batch = generate_with_logprobs(
        model, prompt, 1, stop_tokens=(), pad_id=0, generator=torch.Generator().manual_seed(0)
    )
    wanted = int(batch.sequences[:, -1].mode().values)
    reward = (batch.sequences[:, -1] == wanted).float()
    before = model(prompt[:1])[0, -1].softmax(-1)[wanted].item()
    log_probs, mask = compute_logprobs(model, batch.sequences, batch.response_mask)
    loss = -((reward - reward.mean())[:, None] * log_probs)[mask].mean()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.05 * parameter.grad
    assert model(prompt[:1])[0, -1].softmax(-1)[wanted].item() > before + 0.01


def test_mode_and_random_state_are_left_as_they_were():
    model = tiny("GPT2", dropout=0.5)
    model.train()
    model.blocks[0].eval()
    modes = [part.training for part in model.modules()]
    ids, _ = padded_prompts()
    batch = generate_with_logprobs(model, ids, 4, top_k=1, stop_tokens=(), pad_id=0)
    state = torch.get_rng_state()
    first, _ = compute_logprobs(model, batch.sequences, batch.response_mask)
    second, _ = compute_logprobs(model, batch.sequences, batch.response_mask)
    assert torch.equal(first, second) and torch.equal(state, torch.get_rng_state())
    assert [part.training for part in model.modules()] == modes
    with pytest.raises(ValueError):
        generate_with_logprobs(model, ids, 4, top_p=2.0, stop_tokens=(), pad_id=0)
    assert [part.training for part in model.modules()] == modes
    assert first.requires_grad
    assert not compute_logprobs(model, batch.sequences, batch.response_mask, requires_grad=False)[0].requires_grad


@pytest.mark.parametrize("greedy", [True, False])
def test_ragged_prompts_give_what_each_gives_alone(greedy):
    model = tiny("GPT2")
    prompts = [[5, 6], torch.tensor([3, 1, 4, 1, 5]), [2]]

    def answers(chosen):
        generators = [torch.Generator().manual_seed(index) for index in chosen]
        return batched_generate(
            model, [prompts[index] for index in chosen], 9, greedy=greedy, stop_tokens=[4], pad_id=0,
            generator=generators,
        )  # fmt: skip

    together = answers([0, 1, 2])
    assert together == [answers([index])[0] for index in range(3)]
    assert all(4 not in answer[:-1] for answer in together)
    assert answers([2, 0]) == [together[2], together[0]]


def test_what_does_not_fit_is_refused_by_name():
    model, ids = tiny("LLaMA"), torch.tensor([[1, 2, 3]])
    with pytest.raises(ValueError, match="own stop_tokens and pad_id"):
        generate_with_logprobs(model, ids, 2)
    with pytest.raises(ValueError, match=r"pad_id must lie in the vocabulary 0\.\.30, got 31"):
        generate_with_logprobs(model, ids, 2, stop_tokens=(), pad_id=31)
    with pytest.raises(ValueError, match="context of 24"):
        generate_with_logprobs(model, torch.zeros(1, 24, dtype=torch.long), 2, stop_tokens=())
    with pytest.raises(ValueError, match="response_mask must have the shape"):
        compute_logprobs(model, ids, torch.ones(1, 2))
    with pytest.raises(ValueError, match="response_mask must hold 0 and 1"):
        compute_logprobs(model, ids, torch.full((1, 3), 0.5))
    with pytest.raises(TypeError, match="response_mask must be a tensor"):
        compute_logprobs(model, ids, [[0, 1, 1]])
    with pytest.raises(ValueError, match="attention_mask"):
        compute_logprobs(model, ids, everything(ids), attention_mask=torch.ones(1, 7))
    with pytest.raises(TypeError, match="requires_grad"):
        compute_logprobs(model, ids, everything(ids), requires_grad=1)
    with pytest.raises(ValueError, match=r"prompts\[1\]"):
        batched_generate(model, [[1], []], 2, stop_tokens=(), pad_id=0)
    for prompts, error, words in (
        ([1, 2], TypeError, r"prompts\[0\] must be a list of token ids, got 1"),
        (["ab"], TypeError, r"prompts\[0\] must be a list of token ids, got 'ab'"),
        ("ab", TypeError, "prompts must be a list of prompts, got 'ab'"),
        (None, TypeError, "prompts must be a list of prompts, got None"),
        ([[[1], [2]]], ValueError, r"prompts\[0\] must hold one prompt, got shape \(2, 1\)"),
    ):
        with pytest.raises(error, match=words):
            batched_generate(model, prompts, 2, stop_tokens=(), pad_id=0)
    assert batched_generate(model, [], 2, stop_tokens=(), pad_id=0) == []
    assert generate_with_logprobs(model, ids, 0, stop_tokens=()).sequences.tolist() == ids.tolist()


def test_the_prompts_mask_serves_for_a_part_of_the_response_too():
    model = tiny("LLaMA")
    ids, attention_mask = padded_prompts()
    batch = generate_with_logprobs(model, ids, 6, stop_tokens=(), pad_id=0, attention_mask=attention_mask)
    part = batch.response_mask.clone()
    part[:, : ids.shape[1] + 2] = False
    asked, _ = compute_logprobs(model, batch.sequences, part, attention_mask=attention_mask)
    torch.testing.assert_close(asked, batch.log_probs * part[:, 1:])


def test_greedy_rollouts_draw_no_random_number():
    model, generator = tiny("LLaMA"), torch.Generator().manual_seed(3)
    before, own = torch.get_rng_state(), generator.get_state()
    batched_generate(model, [[1, 2], [3]], 4, greedy=True, stop_tokens=5, pad_id=0, generator=generator)
    batch = generate_with_logprobs(model, torch.tensor([[1, 2]]), 4, top_k=1, stop_tokens=5, pad_id=0)
    assert torch.equal(torch.get_rng_state(), before) and torch.equal(generator.get_state(), own)
    assert batch.sequences.equal(generate(model, torch.tensor([[1, 2]]), 4, False, eos_token_id=5, pad_token_id=0))
    assert (batch.log_probs == 0).all() and (batch.full_log_probs[batch.response_mask[:, 1:]] < 0).all()


def test_a_window_that_is_all_padding_of_a_row_asks_nothing_of_it():
    model = tiny("LLaMA", max_position_embeddings=16)
    sequences = torch.randint(0, 31, (2, 20), generator=torch.Generator().manual_seed(0))
    mask, response = torch.ones(2, 20, dtype=torch.long), torch.zeros(2, 20, dtype=torch.bool)
    mask[0, :17], response[0, 18:], response[1, 1:] = 0, True, True
    log_probs, _ = compute_logprobs(model, sequences, response, attention_mask=mask)
    alone, _ = compute_logprobs(model, sequences[:1, 17:], response[:1, 17:])
    torch.testing.assert_close(log_probs[0, 17:], alone[0])
