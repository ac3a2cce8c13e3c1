"""Typed arguments as checked settings, before anything heavy is loaded."""

from __future__ import annotations

import argparse

import torch
from torch import Generator

from llm_gen.answer import TextSettings
from llm_gen.cli.output import tell
from llm_gen.text import _


def read_settings(args: argparse.Namespace) -> TextSettings:
    """The settings that were typed, over the defaults; contradictions are refused.

    Raises argparse.ArgumentTypeError with one sentence.
    """
    typed = {name: getattr(args, name) for name in ("temperature", "top_k", "top_p")}
    typed = {name: value for name, value in typed.items() if value is not None}
    greedy = getattr(args, "greedy", False)
    if greedy and typed:
        option = "--" + next(iter(typed)).replace("_", "-")
        raise argparse.ArgumentTypeError(_("--greedy and {option} contradict each other").format(option=option))
    if "top_k" in typed:
        typed.setdefault("top_p", None)
    common = {name: getattr(args, name) for name in ("max_new_tokens", "min_new_tokens", "max_time")}
    try:
        return TextSettings(greedy=greedy, stop=tuple(args.stop), **typed, **common)
    except (TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def check_prompts(prompts: list[str]) -> None:
    for prompt in prompts:
        if not prompt.strip():
            raise argparse.ArgumentTypeError(_("--prompt must hold some text, got {prompt!r}").format(prompt=prompt))


def first_seed(seed: int | None) -> int:
    """The seed that was asked for, or a fresh one, told so that the text can be had again."""
    if seed is None:
        seed = torch.seed() % 2**31
        tell(_("seed: {seed}").format(seed=seed))
    return seed


def make_generator(seed: int | None, device: str) -> Generator:
    return Generator(device).manual_seed(first_seed(seed))


def check_device(name: str) -> torch.device:
    """The device, if this machine has it; ValueError in one sentence otherwise."""
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ValueError(_("--device must name a device of this machine, got {name!r}").format(name=name)) from None
