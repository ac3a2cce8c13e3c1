"""python -m exercises: list, check, hint, solution, progress, reset, watch; for instructors table, syllabus, grade,
release.

Exit codes: 0 everything asked for is passed (or done); 1 an answer is wrong; 2 the command, a name or a file
is wrong; 3 nothing is wrong, but something is not attempted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from exercises.grader import commands
from exercises.grader.card import print_text
from llm_gen.text import _


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (LookupError, ValueError, OSError) as error:
        print_text(str(error), sys.stderr)
        return commands.USAGE
    except KeyboardInterrupt:
        return commands.ALL_PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m exercises", description=_("Exercises: list, check, get help."))
    add = parser.add_subparsers(required=True, metavar=_("command")).add_parser
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", help=_("for other programs"))

    listing = add("list", parents=[json_too], help=_("all exercises"))
    listing.set_defaults(run=commands.list_exercises)
    checking = add("check", parents=[json_too], help=_("check files; all without a name"))
    checking.add_argument("names", nargs="*", metavar=_("name-or-file"))
    checking.set_defaults(run=commands.check)
    hinting = add("hint", help=_("the next hint"))
    hinting.add_argument("name")
    hinting.add_argument("--step", type=int)
    hinting.set_defaults(run=commands.hint)
    solving = add("solution", help=_("the reference and its reasons"))
    solving.add_argument("name")
    solving.set_defaults(run=commands.solution)
    standing = add("progress", parents=[json_too], help=_("where you stand"))
    standing.set_defaults(run=commands.progress)
    resetting = add("reset", help=_("write the stub back, keep a backup"))
    resetting.add_argument("name")
    resetting.set_defaults(run=commands.reset_file)
    watching = add("watch", help=_("check whenever a file is saved"))
    watching.add_argument("names", nargs="*", metavar=_("name"))
    watching.set_defaults(run=commands.watch, looks=None)
    if find_spec("exercises.classroom"):  # the student edition goes without
        from exercises.classroom.commands import add_commands

        add_commands(add)
    return parser


if __name__ == "__main__":
    sys.exit(main())
