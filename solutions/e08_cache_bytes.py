"""2 (key and value) x layers x key/value heads x head size x tokens x rows x bytes of a number.

The heads are the key/value heads: with grouped queries they are fewer than the query heads, and that is the
whole gain. Mistral 7B at 4,096 tokens: 2 x 32 x 8 x 128 x 4096 x 2 bytes = 512 MiB; with 32 heads it would be
2 GiB.
"""

import math

import torch

from llm_gen import kv_cache_bytes
from solutions.vocabulary import Check, OneOf, fails


def cache_bytes(
    num_layers: int, num_kv_heads: int, head_size: int, seq_len: int, bytes_per_value: int, batch_size: int
) -> int:
    """Bytes of a cache that holds `seq_len` tokens of each of `batch_size` rows."""
    numbers = 2 * num_layers * num_kv_heads * head_size * seq_len * batch_size
    return numbers * bytes_per_value


check_sizes = Check(
    cache_bytes,
    num_layers=OneOf(1, 2, 32),
    num_kv_heads=OneOf(1, 3, 8),
    head_size=OneOf(1, 4, 128),
    seq_len=OneOf(1, 5, 0, 4096),
    bytes_per_value=OneOf(1, 2, 4),
    batch_size=OneOf(1, 7, 8),
    examples=[
        (32, 8, 128, 4096, 2, 1),
        (18, 1, 256, 4096, 2, 1),
        (32, 32, 128, 4096, 2, 8),
        (80, 1, 1, 1, 1, 1),
        (1, 1, 1, 1, 8, 1),
        (31, 7, 127, 4095, 2, 7),
    ],
)


def wrong_keys_only(*sizes: int) -> int:
    """counts the keys and forgets the values"""
    return cache_bytes(*sizes) // 2


def wrong_no_layers(*sizes: int) -> int:
    """forgets the layers"""
    return cache_bytes(1, *sizes[1:])


def wrong_no_batch(*sizes: int) -> int:
    """forgets the rows of the batch"""
    return cache_bytes(*sizes[:5], 1)


def wrong_numbers_not_bytes(*sizes: int) -> int:
    """counts numbers instead of bytes"""
    return cache_bytes(*sizes[:4], 1, sizes[5])


def wrong_bits(*sizes: int) -> int:
    """counts bits instead of bytes"""
    return 8 * cache_bytes(*sizes)


def wrong_square(*sizes: int) -> int:
    """lets every token keep something for every other token; that is the attention matrix, which is not kept"""
    return cache_bytes(*sizes) * sizes[3]


@fails("type")
def wrong_float(*sizes: int) -> float:
    """gives a float; a number of bytes is whole"""
    return float(cache_bytes(*sizes))


def wrong_mebibytes(*sizes: int) -> int:
    """gives mebibytes instead of bytes"""
    return cache_bytes(*sizes) // 2**20


def wrong_queries_too(*sizes: int) -> int:
    """keeps queries besides keys and values; an old query is never needed again"""
    return cache_bytes(*sizes) // 2 * 3


def wrong_one_head(*sizes: int) -> int:
    """forgets the key/value heads"""
    return cache_bytes(sizes[0], 1, *sizes[2:])


def right_product(*sizes: int) -> int:
    return math.prod(sizes) * 2


def right_library(*sizes: int) -> int:
    return kv_cache_bytes(*sizes)


def right_real_tensor(
    num_layers: int, num_kv_heads: int, head_size: int, seq_len: int, bytes_per_value: int, batch_size: int
) -> int:
    dtype = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_per_value]
    keys = torch.empty(num_layers, batch_size, num_kv_heads, seq_len, head_size, dtype=dtype, device="meta")
    return keys.nbytes * 2
