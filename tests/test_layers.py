"""Norms, rotary positions, MLPs and experts: against numbers worked out by hand or the formula written as a loop."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from stubs import SIZES

from llm_gen import ModelConfig
from llm_gen.layers import ACTIVATIONS, MLP, Experts, RMSNorm, make_norm, rotary_tables, rotate

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def config(**more):
    return ModelConfig(**SIZES, **{"max_position_embeddings": 32, **more})


def test_w03_rms_norm_multiplies_by_one_plus_weight_where_asked():
    x = torch.tensor([[3.0, 4.0]])
    adding, plain = RMSNorm(2, 1e-6, True), RMSNorm(2, 1e-6, False)
    with torch.no_grad():
        adding.weight.zero_(), plain.weight.zero_()
    torch.testing.assert_close(adding(x), torch.tensor([[0.84852809, 1.13137078]]))
    assert plain(x).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("adds_one", [True, False])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_rms_norm_is_its_formula(adds_one, eps):
    x = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    norm = RMSNorm(6, eps, adds_one)
    assert norm(x).equal(RMSNorm(6, eps, not adds_one)(x)), "a new norm multiplies by 1 in both forms"
    with torch.no_grad():
        norm.weight.copy_(torch.arange(6.0))
    expected = x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * (torch.arange(6.0) + adds_one)
    torch.testing.assert_close(norm(x), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_norms_are_taken_in_float32(dtype):
    # 300 ** 2 is beyond float16, and a mean of many squares is coarse in bfloat16.
    x = (300 + torch.arange(64.0)).to(dtype)[None]
    for kind in ({"norm": "rms"}, {"norm": "rms", "norm_adds_one": True}, {"norm": "layer"}):
        narrow = make_norm(ModelConfig(**{**SIZES, "embed_dim": 64}, max_position_embeddings=4, **kind))
        wide = narrow(x.float()).to(dtype)
        out = narrow.to(dtype)(x)
        assert out.dtype == dtype
        assert out.isfinite().all()
        torch.testing.assert_close(out, wide, rtol=torch.finfo(dtype).eps, atol=torch.finfo(dtype).eps)


def test_w03_scale_of_embeddings_and_both_forms_of_gelu():
    for size, scale in ((2048, 45.25), (3072, 55.5)):
        assert torch.tensor(math.sqrt(size), dtype=torch.bfloat16).item() == scale
    assert ACTIVATIONS["gelu_tanh"](torch.tensor(1.0)).item() == pytest.approx(0.8411920, abs=1e-6)
    assert ACTIVATIONS["gelu"](torch.tensor(1.0)).item() == pytest.approx(0.8413447, abs=1e-6)
    assert ACTIVATIONS["relu"](torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    assert ACTIVATIONS["silu"](torch.tensor(1.0)).item() == pytest.approx(1 / (1 + math.exp(-1)))


@pytest.mark.parametrize("theta", [10000.0, 100.0])
def test_rotation_turns_pairs_by_their_angle(theta):
    cos, sin = rotary_tables(config(head_size=8, rope_theta=theta))
    assert cos.dtype == sin.dtype == torch.float32
    x = torch.randn(1, 32, 2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    turned = rotate(x.float(), cos[None, :, None], sin[None, :, None])
    for position in (0, 1, 7, 31):
        for pair in range(4):
            angle = position * theta ** (-2 * pair / 8)
            a, b = x[0, position, :, pair], x[0, position, :, pair + 4]
            expected = a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)
            for place, value in zip((pair, pair + 4), expected):
                torch.testing.assert_close(turned[0, position, :, place].double(), value, rtol=1e-5, atol=1e-5)


def test_rotation_shows_only_the_distance():
    cos, sin = rotary_tables(config(head_size=8))
    q, k = torch.randn(2, 8, generator=torch.Generator().manual_seed(1))

    def score(at_query, at_key):
        turned = [
            rotate(x[None, None, None], cos[at][None, None, None], sin[at][None, None, None])
            for x, at in ((q, at_query), (k, at_key))
        ]
        return (turned[0] * turned[1]).sum().item()

    assert score(7, 3) == pytest.approx(score(31, 27), abs=1e-5)
    assert abs(score(7, 3) - score(7, 4)) > 0.01
    assert abs(score(7, 3) - score(3, 7)) > 0.01


def frequencies(**more):
    cos, sin = rotary_tables(config(head_size=16, **more))
    return torch.atan2(sin[1, 8:], cos[1, 8:])


def test_scaled_rotary_positions():
    plain = frequencies()
    torch.testing.assert_close(plain, 10000.0 ** (-torch.arange(8) / 8))
    linear = frequencies(rope_scaling={"rope_type": "linear", "factor": 4.0})
    torch.testing.assert_close(linear, plain / 4)
    expected = []
    for frequency in plain.tolist():
        turns = LLAMA3["original_max_position_embeddings"] * frequency / (2 * math.pi)
        if turns >= 4:
            expected.append(frequency)
        elif turns <= 1:
            expected.append(frequency / 8)
        else:
            share = (turns - 1) / 3
            expected.append(share * frequency + (1 - share) * frequency / 8)
    assert expected[0] == plain[0].item() and expected[-1] < plain[-1] / 7 and 1 < expected[1] * 64 / 6.2832 < 4
    torch.testing.assert_close(frequencies(rope_scaling=LLAMA3), torch.tensor(expected))


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_mlp_is_its_formula(activation):
    x = torch.randn(2, 3, 32, generator=torch.Generator().manual_seed(0))
    act = ACTIVATIONS[activation]
    plain = MLP(config(gated_mlp=False, mlp_dim=24, activation=activation, mlp_bias=True))
    expected = F.linear(act(F.linear(x, plain.up.weight, plain.up.bias)), plain.down.weight, plain.down.bias)
    assert plain(x).equal(expected)
    gated = MLP(config(mlp_dim=24, activation=activation))
    assert gated.up.weight.shape == (48, 32) and gated.up.bias is None
    gate, up = F.linear(x, gated.up.weight[:24]), F.linear(x, gated.up.weight[24:])
    torch.testing.assert_close(gated(x), F.linear(act(gate) * up, gated.down.weight))


@pytest.mark.parametrize(("count", "top_k"), [(4, 2), (4, 1), (3, 3)])
def test_experts_are_a_loop_over_tokens(count, top_k):
    torch.manual_seed(0)
    experts = Experts(config(num_experts=count, top_k_experts=top_k))
    torch.nn.init.normal_(experts.router.weight)
    x = torch.randn(2, 5, 32)
    expected = torch.empty_like(x)
    for row in range(2):
        for column in range(5):
            token = x[row, column]
            shares = experts.router(token).softmax(-1)
            best = shares.argsort(descending=True)[:top_k]
            expected[row, column] = sum(shares[e] / shares[best].sum() * experts.experts[e](token) for e in best)
    torch.testing.assert_close(experts(x), expected, rtol=1e-5, atol=1e-6)
    assert experts(x[:0]).shape == (0, 5, 32)


def test_w05_a_token_takes_the_same_path_whatever_stands_beside_it():
    torch.manual_seed(0)
    experts = Experts(config(num_experts=4, top_k_experts=2))
    x = torch.randn(3, 7, 32)
    # 21 copies of one token would overflow any capacity limit.
    crowd = x[:1, :1].expand(3, 7, 32)
    torch.testing.assert_close(experts(crowd), experts(x[:1, :1]).expand(3, 7, 32), rtol=1e-5, atol=1e-6)
    alone = torch.cat([experts(row[None]) for row in x])
    torch.testing.assert_close(experts(x), alone, rtol=1e-5, atol=1e-6)
