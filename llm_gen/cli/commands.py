"""The commands behind the arguments: each loads what it needs, writes text to stdout and all else to stderr."""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator

from torch import Generator

from llm_gen.answer import Answer, TextSettings, write
from llm_gen.cache import kv_cache_bytes
from llm_gen.chat import Conversation, find_template
from llm_gen.cli import columns
from llm_gen.cli.output import as_record, show, tell
from llm_gen.cli.settings import check_device, check_prompts, first_seed, make_generator, piped_text, read_settings
from llm_gen.cli.talk import talk
from llm_gen.model import DecoderLM
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer


def chat(args: argparse.Namespace) -> None:
    """One answer with --prompt, else a conversation until Ctrl-D."""
    settings = read_settings(args)
    check_prompts([args.prompt] if args.prompt is not None else [])
    model, tokenizer = load(args)
    conversation = Conversation(
        model, tokenizer, find_template(tokenizer, args.raw), args.system, make_generator(args.seed, args.device)
    )
    tell(_("template: {name}; settings: {settings}").format(name=conversation.template.name, settings=settings))
    if args.prompt is None:
        talk(conversation, settings, as_json=args.json)
        return
    answer = Answer()
    show(conversation.say(args.prompt, settings, answer), quiet=args.json)
    if args.json:
        print(json.dumps(as_record(args.prompt, answer, tokenizer), ensure_ascii=False))


def generate(args: argparse.Namespace) -> None:
    """Go on with each prompt by itself: every one gets what it would get alone."""
    settings = read_settings(args)
    prompts = args.prompt if args.prompt is not None else [piped_text()]
    check_prompts(prompts)
    model, tokenizer = load(args)
    tell(_("settings: {settings}").format(settings=settings))
    seed = first_seed(args.seed)
    for prompt in prompts:
        answer = Answer()
        pieces = continue_text(model, tokenizer, prompt, settings, make_generator(seed, args.device), answer)
        if args.json:
            show(pieces, quiet=True)
            print(json.dumps(as_record(prompt, answer, tokenizer), ensure_ascii=False), flush=True)
        else:
            show(itertools.chain([prompt], pieces))


def compare(args: argparse.Namespace) -> None:
    """The same prompt under every combination of the listed settings, with what can be measured beside each."""
    grid = [
        read_settings(argparse.Namespace(**{**vars(args), **dict(zip(("temperature", "top_k", "top_p"), values))}))
        for values in itertools.product(args.temperature or [None], args.top_k or [None], args.top_p or [None])
    ]
    check_prompts([args.prompt])
    model, tokenizer = load(args)
    seed, answers = first_seed(args.seed), []
    for settings in grid:
        answers.append(Answer())
        for _piece in continue_text(
            model, tokenizer, args.prompt, settings, make_generator(seed, args.device), answers[-1]
        ):
            pass
    print(columns.side_by_side(args.prompt, grid, answers))


def info(args: argparse.Namespace) -> None:
    """Sizes, context, cost of the cache, template."""
    model, tokenizer = load(args)
    config = model.config
    cell = model.embed.weight.element_size()
    per_token = kv_cache_bytes(config.num_layers, config.num_kv_heads, config.head_size, 1, cell)
    rows = {
        _("parameters"): f"{sum(parameter.numel() for parameter in model.parameters()):,}",
        _("context"): _("{count:,} tokens").format(count=model.max_seq_len),
        _("vocabulary"): _("{count:,} tokens").format(count=tokenizer.vocab_size),
        _("cache"): _("{count:,} bytes a token").format(count=per_token),
        _("chat template"): find_template(tokenizer).name,
        **{name: value for name, value in config.to_dict().items() if value is not None},
    }
    width = max(map(len, rows))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in rows.items()))


def load(args: argparse.Namespace) -> tuple[DecoderLM, Tokenizer]:
    """Model and tokenizer on the device, with a word on stderr about what takes time."""
    device = check_device(args.device)
    start = time.monotonic()
    tell(_("loading {name} ...").format(name=args.ckpt))
    tokenizer = load_tokenizer(args.ckpt)
    model = load_model(args.ckpt).to(device)
    tell(_("loaded in {seconds:.1f} s").format(seconds=time.monotonic() - start))
    return model, tokenizer


def continue_text(
    model: DecoderLM, tokenizer: Tokenizer, prompt: str, settings: TextSettings, generator: Generator, answer: Answer
) -> Iterator[str]:
    """Pieces of text after a prompt without roles; ValueError if the prompt fills the context."""
    ids = tokenizer.encode(prompt)
    room = model.max_seq_len - len(ids)
    if room < 1:
        raise ValueError(
            _("the prompt has {count} tokens, but the context of {context} must also hold an answer").format(
                count=len(ids), context=model.max_seq_len
            )
        )
    end_ids = [] if tokenizer.eos_id is None else [tokenizer.eos_id]
    limited = settings.changed(max_new_tokens=min(settings.max_new_tokens, room))
    return write(model, tokenizer, ids, limited, end_ids=end_ids, generator=generator, answer=answer)
