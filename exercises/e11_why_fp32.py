"""What bfloat16 does to a ratio.

bfloat16 keeps 8 binary digits: between 8 and 16 its numbers lie 1/16 apart. float32 keeps 24. A token has the
log-prob -10.4. Whoever wrote the text stored it in bfloat16, rounded to the nearest number; whoever trains computes
it anew in float32. Give the stored number; the ratio trainer / writer of the token, which should be 1; the ratio of
a text of 40 such tokens; and how many times finer than bfloat16's the float32 numbers between 8 and 16 lie
(a whole number; tolerance of the others 0.002).
"""

objective = "Explain why log-probs are taken in float32"
difficulty = 2
minutes = 8
hints = (
    "How many sixteenths is 10.4? Round that to a whole number.",
    "The ratio is exp(new log-prob - stored log-prob). For a text the differences of its tokens add up.",
    "Each binary digit more halves the gap: 24 - 8 halvings.",
)

why_fp32: dict[str, float | int] = {
    "stored": ...,
    "ratio of the token": ...,
    "ratio of 40 tokens": ...,
    "times finer": ...,
}
