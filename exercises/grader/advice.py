"""What an error of Python or torch means, and what to do about it, in a student's words.

The texts are those that Python and torch raise; a text that another version words in another way only gets no advice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from llm_gen.text import _

# The first pattern that is found in "Error: message" gives the advice; {0} is its group.
ADVICE = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"UnboundLocalError.*variable '(\w+)'", _(
            "{0} is read before it has a value: a name that a function gives a value to anywhere is its own."
        )),
        (r"name '(\w+)' is not defined", _(
            "Nothing is called {0} here: is it misspelt, or has the line or cell that makes it not been run?"
        )),
        (r"return_types|multiply sequence", _(
            "Along an axis, max, min, sort and topk give two things, .values and .indices; amax gives the values alone."
        )),
        (r"takes from \d+ to 0 positional|received an invalid combination", _(
            "torch asks for these arguments by their names, as in x.sort(dim=-1, descending=True, stable=True)."
        )),
        (r"Boolean value of Tensor", _(
            "`if`, `and`, `or` and `not` take one truth value. Entry by entry it is &, | and ~, each side in brackets, "
            "or torch.where(condition, a, b)."
        )),
        (r"size of tensor a .* must match", _(
            "Two shapes do not fit each other. An axis over which sum or amax runs stays, with length 1, if you say "
            "keepdim=True."
        )),
        (r"Dimension out of range", _("dim=-1 is the last axis, however many axes there are.")),
        (r"missing 1 required positional arguments?: ['\"]dim['\"]", _("Say along which axis: dim=-1 is the last.")),
        (r"builtin_function_or_method|'method'", _(
            "Brackets are missing after the name of a function: x.sum is the function, x.sum() its result."
        )),
        (r"'(?:Tensor|float|int|list|tuple)' object is not callable", _(
            "Round brackets call a function, square ones take an entry. Or has a variable got a function's name?"
        )),
        (r"only one element tensors|elements cannot be converted to Scalar", _(
            "math.exp, float() and the like take one number; for a whole tensor there are torch.exp and the like."
        )),
        (r"must be Tensor, not \w+", _(
            "torch's functions take tensors, math's take numbers; a bound that is a number goes with x.clamp(max=1)."
        )),
        (r"ellipsis", _("Three dots still stand where an answer belongs.")),
        (r"NoneType", _("Something is None: what a function without `return` gives, or a change in place.")),
        (r"'(list|tuple|float|int)' object has no attribute", _(
            "That is a {0}, not a tensor; torch.tensor(...) makes one of it."
        )),
        (r"'Tensor' object has no attribute '(\w+)'", _(
            "Tensors have no .{0}: they are not lists or NumPy arrays (copy is .clone(), astype is .to)."
        )),
        (r"'[\w.]+' object has no attribute '(\w+)'", _("It has no .{0}: is that misspelt?")),
        (r"object is not (?:iterable|subscriptable)", _("One thing stands there, and a list or tensor is needed.")),
        (r"with a bool tensor", _("A mask is turned round by ~ and made a tensor of numbers by .long() or .float().")),
        (r"batch2 tensor|mat1 and mat2", _(
            "In a @ b the last axis of a is as long as the last but one of b. x.mT swaps the last two axes, x.T all."
        )),
        (r"to be no larger than self", _(
            "gather takes an index that is no longer than the tensor along every other axis: are both cut alike?"
        )),
        (r"bitwise_\w+['\"]? not implemented", _(
            "&, | and ~ join and turn masks of True and False: compare first, as in (x > 0) | (y > 0)."
        )),
        (r"infer output dtype|floating point (?:or complex|dtype)|not implemented for '(?:Long|Int|Bool)'", _(
            "mean, softmax, log and the like need floats: .float() makes them of whole numbers or a mask."
        )),
        (r"same number of dimensions|too many indices|zero-dimensional", _(
            "A tensor has fewer axes than you think: argmax, sum and x[:, 0] take one away, keepdim=True or [:, None] "
            "keeps or adds it."
        )),
        (r"selected index k out of range", _(
            "topk takes at most as many as there are: min(k, x.shape[-1]), or sort and cut."
        )),
        (r"values to unpack", _(
            "As many names as things are needed: `return a, b` gives two, and `a, b = x` takes two."
        )),
        (r"except in dimension", _(
            "torch.cat joins along dim, which is 0 if you say nothing; all other axes must be equally long."
        )),
        (r"indices must be integers|interpreted as an integer|used as indices", _(
            "An index or a count must be a whole number: int(...) makes one."
        )),
        (r"out of (?:range|bounds)", _(
            "Positions go from 0 to the length minus 1. Is something shorter, or a shape other, than you think?"
        )),
        (r"dtype|scalar type|Float can't be cast", _(
            "Tensors of two dtypes meet: a.to(b.dtype) makes a like b."
        )),
        (r"shape mismatch|shapes cannot|size mismatch|cannot be broadcast|is invalid for input of size", _(
            "Shapes do not fit each other. Print x.shape of each part on the smallest input."
        )),
        (r"ZeroDivisionError", _("What is divided by is 0 for the smallest input: follow it by hand.")),
        (r"RecursionError", _("The function calls itself without end.")),
    )
)  # fmt: skip
WRONG_CALL = re.compile(r"TypeError: \w+\(\) (?:takes|missing|got)")


def on_error(error: str, message: str, names: Sequence[str] = (), line: str = "") -> str:
    """Advice on an error, "" if there is none. names: the arguments of the task; line: the answer's own, if it ran."""
    text = f"{error}: {message}"
    if names and not line and WRONG_CALL.match(text):
        return _("The function is called with {n} arguments: {names}.").format(n=len(names), names=", ".join(names))
    for pattern, words in ADVICE:
        found = pattern.search(text)
        if found:
            return words.format(*found.groups())
    return ""
