"""The words that solution pages are written in.

A page for a function holds the reference, `check_* = Check(reference, argument=kind, ...)`, `wrong_*`
functions (each docstring completes "your answers equal a version that ...") and `right_*` functions (other
right answers). A page for a value holds a reference without arguments that computes it, `check_* =
Numbers(...)` or `Choice(...)`, and `wrong_*` functions without arguments that compute the usual wrong values.

These words know nothing of students, files or notebooks: `exercises.grader` runs the answers and words the
reports.
"""

from solutions.vocabulary.cases import Case
from solutions.vocabulary.checks import Check, Counterexample, fails
from solutions.vocabulary.compare import Difference, difference
from solutions.vocabulary.kinds import Kind, ListOf, OneOf, Whole
from solutions.vocabulary.outcome import Outcome, failure, identical, observe
from solutions.vocabulary.shrink import shrink
from solutions.vocabulary.tensors import Ids, Logits, Mask, Probs, Reals, Uniforms
from solutions.vocabulary.values import Choice, Entry, Numbers, Order, Prediction, ValueCheck

__all__ = [
    "Case",
    "Check",
    "Choice",
    "Counterexample",
    "Difference",
    "Entry",
    "Ids",
    "Kind",
    "ListOf",
    "Logits",
    "Mask",
    "Numbers",
    "OneOf",
    "Order",
    "Outcome",
    "Prediction",
    "Probs",
    "Reals",
    "Uniforms",
    "ValueCheck",
    "Whole",
    "difference",
    "fails",
    "failure",
    "identical",
    "observe",
    "shrink",
]
