"""When all rows end at step 3.

A batch has two rows, each with a prompt of 4 tokens. `max_new_tokens` is 20, eos is 21, pad is 0. If nobody stopped
it, the model would write

    row 0    5  21   8   8   8  ...
    row 1    7   6  21   9   9  ...

What does generation give back? Text is what a row wrote itself, its eos included; steps are passes of the loop. The
last token of a row stands in the last column. In the last line, row 1 writes 9 instead of its 21 and never ends. Give
whole numbers.
"""

objective = "Predict what comes back when all rows end early"
difficulty = 1
minutes = 5
hints = (
    "Write the two rows below each other and cross out what comes after the first 21 of each.",
    "The loop goes on as long as any row writes. In which step does the last row write its 21?",
    "What comes back is prompt and new tokens together. A row that ended early is filled with pad.",
)

all_end: dict[str, int] = {
    "steps of the loop": ...,
    "columns that come back": ...,
    "last token of row 0": ...,
    "last token of row 1": ...,
    "tokens of text in row 0": ...,
    "columns if row 1 never ends": ...,
}
