"""Text to stdout, everything else to stderr, so that a pipe gets the text alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from llm_gen.answer import Answer
from llm_gen.tokenizer import Tokenizer


def tell(message: str) -> None:
    if sys.stderr is not None:  # closed by the shell; print would turn to stdout
        print(message, file=sys.stderr, flush=True)


def show(pieces: Iterable[str], quiet: bool = False) -> None:
    """Print the pieces as they come, and a newline at the end; quiet: only let them be written."""
    for piece in pieces:
        if not quiet:
            print(piece, end="", flush=True)
    if not quiet:
        print(flush=True)


def as_record(prompt: str, answer: Answer, tokenizer: Tokenizer) -> dict[str, Any]:
    """One answer as JSON: text, tokens with both log-probs (natural logarithm), why it ended, times in seconds."""
    tokens = [
        {"id": token, "text": tokenizer.token_text(token), "log_prob": drawn, "full_log_prob": full, "seconds": at}
        for token, drawn, full, at in zip(answer.ids, answer.log_probs, answer.full_log_probs, answer.seconds)
    ]
    return {"prompt": prompt, "text": answer.text, "finish": answer.finish, "tokens": tokens}
