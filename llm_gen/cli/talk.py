"""The conversation in a terminal: what is typed, the commands that start with a slash, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from llm_gen.answer import Answer, TextSettings
from llm_gen.chat import Conversation
from llm_gen.cli.output import tell
from llm_gen.text import _

HELP = _("""/set NAME VALUE   change a setting: temperature, top_k, top_p, max_new_tokens, greedy; off switches one off
/settings         show the settings
/retry            another answer to the last message that got one
/reset            forget the conversation
/help             this
Ctrl-C stops an answer, Ctrl-D ends.""")
READERS = {
    "temperature": float,
    "top_k": int,
    "top_p": float,
    "max_new_tokens": int,
    "min_new_tokens": int,
    "max_time": float,
    "greedy": lambda word: {"on": True, "true": True, "false": False}[word],
}
OFF = {"temperature": 1.0, "top_k": None, "top_p": None, "min_new_tokens": 0, "max_time": None, "greedy": False}


@dataclass
class Session:
    """The conversation, and what the person has set."""

    conversation: Conversation
    settings: TextSettings
    as_json: bool = False


def talk(conversation: Conversation, settings: TextSettings, as_json: bool = False) -> None:
    """Read lines until the input ends; answer each, or do what a line with a slash says."""
    session = Session(conversation, settings, as_json)
    if _is_terminal():
        tell(_("Type a message; /help shows the commands, Ctrl-D ends."))
    while (line := _read_line()) is not None:
        try:
            handle(session, line.strip())
        except (ValueError, TypeError) as error:
            tell(str(error))


def handle(session: Session, line: str) -> None:
    """Do one line; ValueError or TypeError in one sentence if it cannot be done."""
    if not line:
        return
    if not line.startswith("/"):
        answer(session, partial(session.conversation.say, line))
        return
    command, *words = line.split()
    if command == "/help":
        tell(HELP)
    elif command == "/settings":
        tell(str(session.settings))
    elif command == "/reset":
        session.conversation.reset()
        tell(_("The conversation starts anew."))
    elif command == "/retry":
        answer(session, session.conversation.again)
    elif command == "/set" and len(words) == 2:
        session.settings = set_one(session.settings, *words)
        tell(str(session.settings))
    else:
        raise ValueError(_("unknown command {line!r}; /help shows what there is").format(line=line))


def answer(session: Session, begin: Callable[[TextSettings, Answer], Iterator[str]]) -> None:
    """Write the answer that `begin` gives as it comes; Ctrl-C stops it and keeps what there is."""
    record, before = Answer(), session.conversation.dropped
    pieces = begin(session.settings, record)
    try:
        for piece in pieces:
            if not session.as_json:
                print(piece, end="", flush=True)
    except KeyboardInterrupt:
        pieces.close()
        tell(_("(stopped)"))
    print(json.dumps({"text": record.text, "finish": record.finish}) if session.as_json else "", flush=True)
    dropped = session.conversation.dropped - before
    if dropped:
        tell(_("(the context is full: the oldest {count} turns were dropped)").format(count=dropped))


def set_one(settings: TextSettings, name: str, word: str) -> TextSettings:
    """The settings with one of them changed; a top_k switches top_p off and the other way round."""
    name = name.replace("-", "_")
    if name not in READERS:
        raise ValueError(
            _("{name!r} cannot be set; these can: {names}").format(name=name, names=", ".join(sorted(READERS)))
        )
    try:
        value = OFF[name] if word == "off" else READERS[name](word)
    except (ValueError, KeyError):
        raise ValueError(_("{name} cannot be {word!r}").format(name=name, word=word)) from None
    other = {"top_k": "top_p", "top_p": "top_k"}.get(name)
    return settings.changed(**{name: value}, **({other: None} if other and value is not None else {}))


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _read_line() -> str | None:
    if sys.stdin is None:  # closed by the shell: there is nothing to read
        return None
    try:
        return input("> " if _is_terminal() else "")
    except EOFError:
        return None
    except KeyboardInterrupt:
        tell("")
        return ""
