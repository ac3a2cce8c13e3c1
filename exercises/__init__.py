"""Exercises with a grader: `check`, `hint`, `solution`, `progress`.

exercises/eNN_name.py is a task and the stub that a student fills in, in the file or in a chapter's cell;
solutions/eNN_name.py is the page that answers it. Both are found by their names. `python -m exercises` does
the same from a terminal.
"""

from exercises.grader.api import check, hint, progress, solution
from exercises.grader.catalog import UnknownExercise
from exercises.grader.verdict import Verdict

__all__ = ["UnknownExercise", "Verdict", "check", "hint", "progress", "solution"]
