"""Numbers and tokens as readers see them: rounded once, here, and never as -0.000."""

from __future__ import annotations

from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer

VISIBLE = str.maketrans({" ": "\u2423", "\n": "\u21b5", "\r": "\u240d", "\t": "\u21e5"})


def fixed(value: float, decimals: int = 3) -> str:
    """`value` with that many decimals; a negative number that rounds to zero has no sign."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def two_decimals(value: float) -> str:
    """A setting as it stands beside its slider: `0.80`, and `0.685` where two decimals would hide a part of it."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def percent(share: float, decimals: int = 1) -> str:
    """A share in [0, 1] as `46.1%`; a positive share too small to show as `<0.1%`."""
    least = 10.0**-decimals
    small = 0 < share * 100 < least / 2
    return f"<{least:.{decimals}f}%" if small else fixed(share * 100, decimals) + "%"


def token_count(number: int) -> str:
    """`1 token`, `49,152 tokens`."""
    return _("1 token") if number == 1 else _("{number:,} tokens").format(number=number)


def visible(piece: str | bytes) -> str:
    """A token with its spaces and newlines made visible; bytes that are not text, and controls, as `<E2 80>`."""
    if isinstance(piece, bytes):
        try:
            piece = piece.decode()
        except UnicodeDecodeError:
            return f"<{piece.hex(' ').upper()}>"
    shown = piece.translate(VISIBLE)
    return shown if shown.isprintable() else f"<{piece.encode().hex(' ').upper()}>"


def token_label(tokenizer: Tokenizer, token: int) -> str:
    """A token of a vocabulary as panels show it; a control token by its name."""
    return visible(tokenizer.token_bytes(token)) or tokenizer.decode([token], show_control=True)


def shortened(text: str, length: int) -> str:
    """At most `length` characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= length else text[: length - 1] + "\u2026"
