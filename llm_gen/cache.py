"""KVCache: the keys and values already computed, and the one count of how far a model has read.

The position is counted in columns read, never in entries kept: a rolling cache of W entries that has read 100
columns is at position 100. Columns include a padded row's padding; `padding` says how many those are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from llm_gen.checks import check_flag, check_integer

BLOCK = 64  # columns; the storage starts with whole blocks and doubles, so appending is never a copy per step


class KVCache:
    """Keys and values of every layer, (B, G, columns, d) each, kept without repeating grouped heads.

    max_length: columns it may read. window: keep only the last `window` columns, in a ring: column c lies in
    slot c % window; with rolling=False all of them are kept, so that `truncate` can always go back. The model calls
    `update` once a layer and `advance` once a forward pass; a pass that fails before `advance` can be repeated.
    Raises TypeError or ValueError for sizes that are no integers >= 1 (batch_size: >= 0), a dtype of another kind.
    """

    def __init__(
        self,
        num_layers: int,
        batch_size: int,
        num_kv_heads: int,
        head_size: int,
        max_length: int,
        window: int | None = None,
        *,
        rolling: bool = True,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        num_layers = check_integer("num_layers", num_layers, minimum=1)
        batch_size = check_integer("batch_size", batch_size, minimum=0)
        num_kv_heads = check_integer("num_kv_heads", num_kv_heads, minimum=1)
        head_size = check_integer("head_size", head_size, minimum=1)
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"dtype must be a torch.dtype, got {dtype!r}")
        self.max_length = check_integer("max_length", max_length, minimum=1)
        self.window = None if window is None else check_integer("window", window, minimum=1)
        rolls = check_flag("rolling", rolling) and self.window is not None
        self.slots = min(self.window, self.max_length) if rolls else self.max_length
        self.length = 0
        self.padding: Tensor | None = None
        self._rolled: list[tuple[Tensor, Tensor]] = []
        shape = (num_layers, batch_size, num_kv_heads, 0, head_size)
        self.keys = torch.empty(shape, dtype=dtype, device=device)
        self.values = torch.empty(shape, dtype=dtype, device=device)

    @property
    def batch_size(self) -> int:
        return self.keys.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes allocated: `kv_cache_bytes` of the columns that fit so far."""
        return self.keys.nbytes + self.values.nbytes

    def update(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store a layer's new keys and values (B, G, T, d); give all that the new tokens may look at.

        The columns of what comes back are `key_columns(T)`. The position stays until `advance(T)`. Raises ValueError
        for keys and values that are not (B, G, T, d), for a layer that is not there and for more than fits.
        """
        count = self._check_new(layer, keys, values)
        check_sequence_length(count, self.length, self.max_length)
        if layer == 0:
            self._rolled.clear()
        end = self.length + count
        self._reserve(min(end, self.slots))
        stored = self.keys[layer], self.values[layer]
        if end <= self.slots:
            for store, new in zip(stored, (keys, values)):
                store[:, :, self.length : end] = new
            return stored[0][:, :, :end], stored[1][:, :, :end]
        if count == 1:
            for store, new in zip(stored, (keys, values)):
                store[:, :, self.length % self.slots] = new[:, :, 0]
            return stored
        return self._roll(stored[0], keys), self._roll(stored[1], values)

    def next_column(self) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """`update` of one column for all layers at once, which leaves the storing to the caller.

        Per layer: where its new key and value go, (B, G, d) each, and all keys and values that the new token may look
        at, (B, G, S, d) each, the new ones included.
        """
        seen = self.reserve_columns(1)
        slot = self.length % self.slots
        return self._places([store.select(3, slot) for store in (self.keys, self.values)], seen)

    def next_columns(self, count: int) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """The same for some columns, with places (B, G, count, d); ValueError where a ring would turn."""
        if self.length + count > self.slots:
            raise ValueError(f"count must be <= the {self.slots - self.length} free slots, got {count}")
        seen = self.reserve_columns(count)
        return self._places([store.narrow(3, self.length, count) for store in (self.keys, self.values)], seen)

    def _places(self, new: list[Tensor], seen: int) -> list[tuple[Tensor, ...]]:
        kept = [store[:, :, :, :seen] for store in (self.keys, self.values)]
        return list(zip(*(part.unbind(0) for part in (*new, *kept))))

    def reserve_columns(self, count: int) -> int:
        """Makes room for `count` columns in every layer, and says how many slots then hold one."""
        check_sequence_length(count, self.length, self.max_length)
        self._rolled.clear()
        seen = min(self.length + count, self.slots)
        self._reserve(seen)
        return seen

    def advance(self, count: int) -> None:
        """Move the position past `count` >= 0 columns; only `truncate` moves it back."""
        check_sequence_length(count, self.length, self.max_length)
        self.length += count
        if self._rolled:
            slots = torch.arange(self.length - self.slots, self.length, device=self.keys.device) % self.slots
            for store, newest in self._rolled:
                store[:, :, slots] = newest
            self._rolled.clear()

    def truncate(self, length: int) -> None:
        """Forget all columns from `length` <= self.length on; ValueError where a ring has overwritten some."""
        length = check_integer("length", length, minimum=0)
        if length > self.length:
            raise ValueError(f"length must be <= the {self.length} columns read, got {length}")
        if length < self.length and self.length > self.slots:
            raise ValueError(f"length must be {self.length} once a ring of {self.slots} has turned, got {length}")
        self.length = length

    def select(self, rows: Tensor) -> None:
        """Keep these rows, (N,) int64, in this order; a row may be taken several times, as beams do."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]
        self.padding = None if self.padding is None else self.padding[rows]

    def key_columns(self, count: int) -> Tensor:
        """The columns of the keys that `update` gives to `count` new tokens, (S,)."""
        end, device = self.length + count, self.keys.device
        if end <= self.slots:
            return torch.arange(end, device=device)
        if count == 1:
            slot = torch.arange(self.slots, device=device)
            return self.length - (self.length - slot) % self.slots
        return torch.arange(self._oldest_kept(), end, device=device)

    def _check_new(self, layer: int, keys: Tensor, values: Tensor) -> int:
        layers, batch, groups, _, size = self.keys.shape
        if not 0 <= layer < layers:
            raise ValueError(f"layer must lie in 0..{layers - 1}, got {layer}")
        for name, new in (("keys", keys), ("values", values)):
            if new.ndim != 4 or new.shape != (batch, groups, keys.shape[2], size):
                raise ValueError(f"{name} must have shape ({batch}, {groups}, T, {size}), got {tuple(new.shape)}")
        return keys.shape[2]

    def _oldest_kept(self) -> int:
        # The first new token sees itself and the window - 1 columns before it.
        return max(0, self.length - self.slots + 1)

    def _roll(self, store: Tensor, new: Tensor) -> Tensor:
        """The kept columns in order, then the new ones; `advance` overwrites the oldest when all layers have looked."""
        kept = torch.arange(self._oldest_kept(), self.length, device=store.device) % self.slots
        joined = torch.cat([store[:, :, kept], new.to(store.dtype)], dim=2)
        self._rolled.append((store, joined[:, :, -self.slots :]))
        return joined

    def _reserve(self, columns: int) -> None:
        capacity = self.keys.shape[3]
        if columns <= capacity:
            return
        blocks = -(-columns // BLOCK) * BLOCK
        self.keys, self.values = (
            self._grown(store, min(self.slots, max(2 * capacity, blocks))) for store in (self.keys, self.values)
        )

    def _grown(self, store: Tensor, capacity: int) -> Tensor:
        # Zeros, because what is masked is still multiplied by 0, and memory can hold NaN.
        grown = store.new_zeros((*store.shape[:3], capacity, store.shape[4]))
        grown[:, :, :, : store.shape[3]] = store
        return grown


def cache_start_pos(cache: KVCache | None) -> int:
    """The column at which the next token is read: 0 without a cache. TypeError for what is no cache."""
    if cache is not None and not hasattr(cache, "length"):
        raise TypeError(f"cache must be None or have a length, got {cache!r}")
    return 0 if cache is None else cache.length


def check_sequence_length(seq_len: int, start_pos: int, max_seq_len: int) -> None:
    """ValueError if `seq_len` tokens from `start_pos` on do not fit the context of `max_seq_len`."""
    seq_len = check_integer("seq_len", seq_len, minimum=0)
    start_pos = check_integer("start_pos", start_pos, minimum=0)
    max_seq_len = check_integer("max_seq_len", max_seq_len, minimum=1)
    if start_pos + seq_len > max_seq_len:
        raise ValueError(f"start_pos + seq_len must be <= max_seq_len {max_seq_len}, got {start_pos} + {seq_len}")


def kv_cache_bytes(
    num_layers: int, num_kv_heads: int, head_size: int, seq_len: int, bytes_per_value: int, batch_size: int = 1
) -> int:
    """Bytes of a cache: 2 (keys and values) * B * L * G * T * d_h * bytes_per_value."""
    sizes = {"num_layers": num_layers, "num_kv_heads": num_kv_heads, "head_size": head_size}
    total = 2
    for name, value in {**sizes, "bytes_per_value": bytes_per_value}.items():
        total *= check_integer(name, value, minimum=1)
    total *= check_integer("seq_len", seq_len, minimum=0)
    return total * check_integer("batch_size", batch_size, minimum=0)


def token_passes(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int | None = None) -> int:
    """Tokens fed to the model, a row, to generate `new_tokens` after a prompt of `prompt_len`.

    Without a cache every step feeds the whole text, with one only what is new. Past `max_seq_len` both feed the
    last `max_seq_len` tokens each step, because the positions of all of them have shifted.
    """
    prompt_len = check_integer("prompt_len", prompt_len, minimum=1)
    new_tokens = check_integer("new_tokens", new_tokens, minimum=0)
    use_cache = check_flag("use_cache", use_cache)
    limit = prompt_len + new_tokens
    if max_seq_len is not None:
        limit = check_integer("max_seq_len", max_seq_len, minimum=1)
    within = min(new_tokens, max(0, limit - prompt_len + 1))
    past = (new_tokens - within) * limit
    if use_cache:
        return past + (prompt_len + within - 1 if within else 0)
    return past + within * prompt_len + within * (within - 1) // 2
