"""What may be typed, and what each exit code means. Arguments are checked before anything heavy is loaded."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from llm_gen.checks import CheckpointError
from llm_gen.cli import commands
from llm_gen.cli.output import tell
from llm_gen.text import _

DONE, FAILED, WRONG_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130
EPILOG = _("exit codes: 0 done, 1 could not be done, 2 wrong arguments, 130 interrupted")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; give its exit code. Text goes to stdout, everything else to stderr."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    args = build_parser().parse_args([_dashed(word) for word in arguments])
    try:
        args.run(args)
    except argparse.ArgumentTypeError as error:
        return _say(error, WRONG_ARGUMENTS)
    except (CheckpointError, ValueError, TypeError, OSError) as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return _say(_("interrupted"), INTERRUPTED)
    return DONE


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; a setting that is not given stays None."""
    parser = argparse.ArgumentParser(prog="llm-gen", description=_("Write text with a language model."), epilog=EPILOG)
    wanted = parser.add_subparsers(required=True, metavar="chat | generate | compare | info")
    chat = _command(wanted, "chat", commands.chat, _("a conversation, or one answer with --prompt"))
    chat.add_argument("--prompt", metavar="TEXT", help=_("answer this and end"))
    chat.add_argument("--system", metavar="TEXT", help=_("system text, kept whatever is dropped"))
    chat.add_argument("--raw", action="store_true", help=_("no chat template: go on with the text"))
    generate = _command(wanted, "generate", commands.generate, _("go on with one or several texts"))
    generate.add_argument(
        "--prompt",
        metavar="TEXT",
        action="append",
        help=_("may be given several times; default: standard input, without the newline at its end"),
    )
    compare = _command(wanted, "compare", commands.compare, _("one prompt under several settings, side by side"))
    compare.add_argument("--prompt", metavar="TEXT", required=True)
    for command in (chat, generate):
        _add_settings(command, single=True)
        command.add_argument("--json", action="store_true", help=_("tokens, log-probs and times as JSON"))
    _add_settings(compare, single=False)
    info = _command(wanted, "info", commands.info, _("what a checkpoint is made of"))
    info.set_defaults(settings=None)
    return parser


def _command(wanted: argparse._SubParsersAction, name: str, run: Callable, help: str) -> argparse.ArgumentParser:
    command = wanted.add_parser(name, help=help, description=help, epilog=EPILOG, allow_abbrev=False)
    command.add_argument("--ckpt", default="tiny", metavar="MODEL", help=_("tiny, smollm2, a folder or a .gguf file"))
    command.add_argument("--device", default="cpu", help=_("a torch device, default cpu"))
    command.set_defaults(run=run)
    return command


def _add_settings(command: argparse.ArgumentParser, single: bool) -> None:
    number, count = (float, int) if single else (_listed(float), _listed(int))
    command.add_argument("--temperature", type=number, metavar="T", help=_("default 0.8; 0 means greedy"))
    command.add_argument("--top-k", type=count, metavar="K", help=_("default off"))
    command.add_argument("--top-p", type=number, metavar="P", help=_("default 0.95; 1 or more means off"))
    if single:
        command.add_argument("--greedy", action="store_true", help=_("always the likeliest token"))
    command.add_argument("--max-new-tokens", type=int, default=256, metavar="N")
    command.add_argument("--min-new-tokens", type=int, default=0, metavar="N")
    command.add_argument("--max-time", type=float, metavar="SECONDS")
    command.add_argument("--stop", action="append", default=[], metavar="TEXT", help=_("may be given several times"))
    command.add_argument("--seed", type=int, metavar="N", help=_("the same seed gives the same text"))


def _listed(kind: Callable[[str], float]) -> Callable[[str], list[float]]:
    def read(text: str) -> list[float]:
        return [kind(part) for part in text.split(",")]

    read.__name__ = _("comma-separated list")
    return read


def _dashed(word: str) -> str:
    """--top_p as --top-p; values are left alone."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value


def _say(message: object, code: int) -> int:
    tell(f"llm-gen: {message}")
    return code
