"""What filler costs.

Four prompts of 8, 2, 5 and 5 tokens get answers of 10, 40, 20 and 12 tokens, their ends included. They are written in
one batch, and the loop ends with its last row. A cell is one place of the rectangle of prompts and answers; filler is
what is neither prompt nor answer.

The last two lines: how many cells do the answers take, pads included and prompts not, in the one batch? And in two
batches of two, if the two shorter answers go together? Whole numbers; the share to 0.005.
"""

objective = "Count what padding and finished rows cost"
difficulty = 2
minutes = 7
hints = (
    "The rectangle is as wide as the longest prompt and the longest answer together, and has four rows.",
    "Filler is the whole rectangle minus all prompts and all answers.",
    "Two batches: 10 with 12, and 20 with 40. Each is as long as its longer answer.",
)

filler: dict[str, int | float] = {
    "steps of the loop": ...,
    "cells": ...,
    "cells of filler": ...,
    "share of filler": ...,
    "cells for answers, one batch": ...,
    "cells for answers, two batches": ...,
}
