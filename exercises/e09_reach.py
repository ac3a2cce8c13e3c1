"""How far does a sliding window reach?

A model has sliding-window attention: in each layer a token sees itself and the window - 1 tokens before it. What one
layer mixed is what the next one looks at. On how many tokens, counting itself, can the output for a token deep in a
long text depend? How many tokens need the cache hold? And how many tokens are fed to write 500 tokens after 500,
with a cache, if the context is far longer than that? Give whole numbers.
"""

objective = "Compute how far a sliding window reaches and what it keeps"
difficulty = 3
minutes = 8
hints = (
    "In the second layer a token sees the window - 1 tokens before it, each of which has seen window - 1 more.",
    "With a window of 2, each layer adds one token. Draw it for three layers.",
    "What no later query may look at need not be kept. And positions go on, so nothing is ever computed again.",
)

reach: dict[str, int] = {
    "tokens it depends on: 1 layer, window 4": ...,
    "tokens it depends on: 3 layers, window 4": ...,
    "tokens it depends on: 32 layers, window 4,096": ...,
    "tokens in the cache: window 4,096, text of 10,000": ...,
    "tokens fed: 500 after 500, window 256": ...,
}
