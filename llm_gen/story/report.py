"""The figures of the model cards: `python -m llm_gen.story.report tiny`."""

from __future__ import annotations

import argparse
import random
import time

from llm_gen.story.metrics import against_limit, distinct_n, mean_of, quality, repeated_phrases
from llm_gen.story.tales import STORIES
from llm_gen.story.tell import tell
from llm_gen.story.truth import Truth
from llm_gen.text import _

GRID = [{"do_sample": False}] + [
    {"temperature": temperature, "top_p": top_p}
    for temperature, top_p in [
        (0.7, 1.0),
        (1.0, 0.9),
        (1.0, 0.95),
        (1.0, 1.0),
        (1.2, 0.9),
        (1.2, 1.0),
        (1.5, 0.9),
        (1.5, 1.0),
    ]
]


def held_out(count: int) -> list[str]:
    """Stories that no recipe trains on: other seeds."""
    return [STORIES.sample(random.Random(f"held out {i}")) for i in range(count)]


def setting_row(model, tokenizer, setting: dict, count: int) -> str:
    """One line of the table. Greedy has one text a prompt, so it goes on from the first words of held-out stories."""
    if setting.get("do_sample", True):
        texts = tell(model, tokenizer, count, **setting)
        name = f"temperature {setting['temperature']}, top-p {setting['top_p']}"
    else:
        openings = sorted({" ".join(text.split()[:3]) for text in held_out(count)})
        texts, name = [tell(model, tokenizer, 1, prompt=words, **setting)[0] for words in openings], "greedy"
    found = quality(texts)
    loops = mean_of(repeated_phrases(text) for text in texts)
    return (
        f"| {name} | {len(texts)} | {found.grammatical} | {found.consistent} "
        f"| {distinct_n(texts[:100], 2):.3f} | {loops.value:.4f} |"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m llm_gen.story.report", description=_("Measure a story model."))
    parser.add_argument("model", nargs="?", default="tiny", help=_("name or folder of a checkpoint"))
    parser.add_argument("--stories", type=int, default=500, help=_("stories per row of the table"))
    parser.add_argument("--no-table", action="store_true", help=_("only the loss"))
    options = parser.parse_args(arguments)
    try:
        measure(options.model, 0 if options.no_table else options.stories)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def measure(name: str, stories: int) -> None:
    """Print the loss of a checkpoint and a table with so many stories per row, or none."""
    from llm_gen.weights import load_model, load_tokenizer

    begun = time.perf_counter()
    model, tokenizer = load_model(name), load_tokenizer(name)
    tell(model, tokenizer, 1, max_new_tokens=1)
    print(_("loaded and first token after {seconds:.2f} s").format(seconds=time.perf_counter() - begun))
    print(_("parameters: {count}").format(count=sum(p.numel() for p in model.parameters())))
    limit = against_limit(model, Truth(tokenizer), held_out(200))
    line = _(
        "held-out nats per token: model {model:.4f}, limit {truth:.4f}, {above:.2%} above; {excess} nats per story"
    )
    print(line.format(model=limit.model, truth=limit.truth, above=limit.above, excess=limit.excess))
    if stories:
        print("| setting | texts | grammatical | consistent | distinct-2 of 100 | repeated 4-grams |")
        print("|---|---|---|---|---|---|")
        for setting in GRID:
            print(setting_row(model, tokenizer, setting, stories), flush=True)


if __name__ == "__main__":
    main()
