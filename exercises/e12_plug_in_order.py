"""Who comes first?

    generate(model, x, 50, do_sample=True, temperature=0.8, top_p=0.9,
             warpers=[partial(min_p, share=0.05), mine],
             processors=[partial(ban_tokens, tokens=[7]), partial(presence_penalty, penalty=1.0)])

Logits come out of the model, a token goes into the text. Put what happens between them in order: a list of letters.
"""

objective = "Order what is plugged into the loop"
difficulty = 2
minutes = 4
hints = (
    "In which order the call names its arguments does not count. Inside a list the order does.",
    "Processors see the model's own logits. Warpers see what temperature and top-p have left.",
)
options = {
    "a": "one token is drawn",
    "b": "min_p drops what is far below the likeliest",
    "c": "presence_penalty lowers what was already written",
    "d": "top-p takes the nucleus",
    "e": "ban_tokens forbids token 7",
    "f": "mine does whatever it does",
    "g": "the logits are divided by the temperature",
}

plug_in_order: list[str] = [..., ..., ..., ..., ..., ..., ...]
