"""Count the token passes.

A token pass is one token fed to the model. How many does it take to generate N tokens after a prompt of P?
Without a cache each step feeds the whole text so far; with one, the first step feeds the prompt and each
later step feeds only the newest token. The last token that is generated is never fed. Give whole numbers.
"""

objective = "Count the work that a cache saves"
difficulty = 2
minutes = 6
hints = (
    "Without a cache: P in the first step, P + 1 in the second, and P + N - 1 in the last.",
    "That is N times P plus 0 + 1 + ... + (N - 1).",
    "With a cache: P for the prompt, then one for each of the N - 1 later steps.",
)

count_passes: dict[str, int] = {
    "P = 100, N = 100, no cache": ...,
    "P = 100, N = 100, cache": ...,
    "P = 500, N = 500, no cache": ...,
    "P = 500, N = 500, cache": ...,
}
