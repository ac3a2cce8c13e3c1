"""Three traces.

Three texts went wrong. Of each you have its new tokens, the model's own probability of each one, and whether the last
token was an end of text.

    trace A    the  hill and  the  hill and  the  hill and  the  hill and
               0.9  0.3  0.4  0.9  0.5  0.6  0.9  0.8  0.8  0.9  0.9  0.9     greedy; cut at 12 tokens
    trace B    the  kite flew over the  stapler's moss  of   it   .    <end>
               0.8  0.4  0.6  0.9  0.9  0.00001   0.01 0.2  0.1  0.3  0.2     τ = 1.3
    trace C    the  kite came home .    The  end  .    Once upon a    time
               0.8  0.4  0.3  0.6  0.9  0.7  0.9  0.9  0.6  0.9  0.9  0.9     τ = 0.7; cut at 12 tokens

For each: what went wrong first, and what would you change? Give one letter each.
"""

objective = "Diagnose a text that went wrong"
difficulty = 2
minutes = 8
hints = (
    "Read the probabilities before the words: do they rise with each round, is there one that falls out, is all well?",
    "A text that is cut at its limit had no end in sight. Was that the first fault, or the consequence of another?",
    "A remedy must act where the fault arises: at the choice (temperature, filters, penalties) or at the end (eos).",
)
options = {
    "a": "It goes round in a loop.",
    "b": "A token from the far tail was drawn.",
    "c": "It ended too early.",
    "d": "It was finished and did not stop.",
    "e": "Sample instead of greedy, or use a repetition penalty.",
    "f": "Cut the tail: top-p, min-p or a lower temperature.",
    "g": "Give the end-of-text id of this model, or a stop string.",
    "h": "Allow more new tokens.",
}

three_traces: dict[str, str] = {
    "trace A, fault": ...,
    "trace A, remedy": ...,
    "trace B, fault": ...,
    "trace B, remedy": ...,
    "trace C, fault": ...,
    "trace C, remedy": ...,
}
