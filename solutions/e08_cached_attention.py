"""The mask comes from positions: query i stands at S - T + i, key j at j, and j may not lie after the query.

A triangle of shape (T, S) drawn from the top left corner would let the first query see the first key only,
although it stands behind S - T others. With one query the mask hides nothing, which is why a wrong one passes
unnoticed until a prompt is read in two pieces.
"""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from llm_gen.attention import attend as library_attend
from llm_gen.attention import build_mask
from solutions.vocabulary import Check, Reals, fails


def attend(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention of the last T of S positions: queries (B, H, T, d), keys and values (B, H, S, d)."""
    count, length, size = queries.shape[2], keys.shape[2], keys.shape[3]
    query_positions = torch.arange(length - count, length)
    visible = torch.arange(length) <= query_positions[:, None]
    scores = queries @ keys.transpose(-1, -2) / size**0.5
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights @ values


def as_many_keys(queries: Tensor, keys: Tensor, values: Tensor) -> bool:
    dtypes = {tensor.dtype for tensor in (queries, keys, values)}
    return queries.shape[2] <= keys.shape[2] and len(dtypes) == 1


check_outputs = Check(
    attend,
    queries=Reals("B", "H", "T", "d"),
    keys=Reals("B", "H", "S", "d"),
    values=Reals("B", "H", "S", "d"),
    sizes={"B": (1, 2), "H": (1, 2, 3), "T": (1, 2, 3), "S": (1, 2, 3, 4, 5), "d": (1, 2, 4)},
    examples=[
        (torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 3, 1), torch.tensor([[[[1.0], [2.0], [3.0]]]])),
        (torch.ones(1, 1, 1, 2), torch.eye(2)[None, None], torch.eye(2)[None, None]),
        (torch.full((1, 1, 2, 1), -60.0), torch.full((1, 1, 2, 1), 60.0), torch.tensor([[[[1.0], [2.0]]]])),
        (torch.tensor([[[[60.0]]]]), torch.tensor([[[[60.0], [1.0]]]]), torch.tensor([[[[1.0], [2.0]]]])),
        (
            torch.ones(1, 1, 1, 8),
            4 * torch.eye(9)[None, None, :, :8].contiguous(),
            torch.arange(9.0).reshape(1, 1, 9, 1).expand(1, 1, 9, 8).contiguous(),
        ),
    ],
    valid=as_many_keys,
    tolerance=1e-4,
)
not_checked = "speed, padding, grouped heads, half precision"


def with_mask(queries: Tensor, keys: Tensor, values: Tensor, visible: Tensor, scale: float | None = None) -> Tensor:
    return scaled_dot_product_attention(queries, keys, values, attn_mask=visible, scale=scale).nan_to_num()


def ones(queries: Tensor, keys: Tensor) -> Tensor:
    return torch.ones(queries.shape[2], keys.shape[2], dtype=torch.bool)


def wrong_no_offset(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """draws the triangle from the top left corner, as if the queries stood at the first positions"""
    return with_mask(queries, keys, values, ones(queries, keys).tril())


def wrong_no_mask(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """hides nothing, so a query sees tokens after it"""
    return with_mask(queries, keys, values, ones(queries, keys))


def wrong_blind_to_itself(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """hides a query's own position (`<` where `<=` is meant)"""
    return with_mask(queries, keys, values, ones(queries, keys).tril(keys.shape[2] - queries.shape[2] - 1))


def wrong_one_ahead(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """lets a query see one token too many"""
    return with_mask(queries, keys, values, ones(queries, keys).tril(keys.shape[2] - queries.shape[2] + 1))


def wrong_no_scale(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """does not divide by the square root of the head size"""
    return attend(queries * keys.shape[3] ** 0.5, keys, values)


def wrong_scale(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """divides by the head size instead of its square root"""
    return attend(queries / keys.shape[3] ** 0.5, keys, values)


def wrong_low_score(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """gives hidden keys a low score such as -100 instead of -inf, and a visible one may be lower still"""
    hidden = ~ones(queries, keys).tril(keys.shape[2] - queries.shape[2])
    scores = queries @ keys.transpose(-1, -2) / keys.shape[3] ** 0.5
    return scores.masked_fill(hidden, -100.0).softmax(dim=-1) @ values


def wrong_zero_instead(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """gives hidden keys the score 0 instead of -inf, so they still count"""
    hidden = ~ones(queries, keys).tril(keys.shape[2] - queries.shape[2])
    scores = queries @ keys.transpose(-1, -2) / keys.shape[3] ** 0.5
    return scores.masked_fill(hidden, 0).softmax(dim=-1) @ values


def wrong_after_softmax(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """hides keys after the softmax, so the weights no longer sum to 1"""
    seen = ones(queries, keys).tril(keys.shape[2] - queries.shape[2])
    scores = queries @ keys.transpose(-1, -2) / keys.shape[3] ** 0.5
    return (scores.softmax(dim=-1) * seen) @ values


def wrong_axis(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """takes the softmax over the queries instead of the keys"""
    hidden = ~ones(queries, keys).tril(keys.shape[2] - queries.shape[2])
    scores = queries @ keys.transpose(-1, -2) / keys.shape[3] ** 0.5
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-2) @ values


@fails("shape")
def wrong_merges_heads(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """gives (B, T, H, d), with heads and tokens swapped"""
    return attend(queries, keys, values).transpose(1, 2)


def wrong_scale_by_length(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """divides by the square root of the number of keys instead of the head size"""
    return attend(queries * (keys.shape[3] / keys.shape[2]) ** 0.5, keys, values)


def right_query_by_query(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    count, length = queries.shape[2], keys.shape[2]
    outputs = []
    for i in range(count):
        end = length - count + i + 1
        scores = (queries[:, :, i : i + 1] * keys[:, :, :end]).sum(dim=-1) / keys.shape[3] ** 0.5
        outputs.append((scores.softmax(dim=-1)[..., None] * values[:, :, :end]).sum(dim=2))
    return torch.stack(outputs, dim=2)


def right_torch(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    mask = ones(queries, keys).tril(keys.shape[2] - queries.shape[2])
    return scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


def right_library(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    columns = torch.arange(keys.shape[2])
    mask = build_mask(columns[-queries.shape[2] :], columns, None, None)
    return library_attend(queries, keys, values, mask, causal=False, dropout=0.0)
