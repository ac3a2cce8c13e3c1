"""Typed arguments as checked settings, before anything heavy is loaded."""

from __future__ import annotations

import argparse
import sys

import torch
from torch import Generator

from llm_gen.answer import TextSettings
from llm_gen.cli.output import tell
from llm_gen.text import _

SEEDS = -(2**63), 2**64 - 1  # what torch takes


def read_settings(args: argparse.Namespace) -> TextSettings:
    """The settings that were typed, over the defaults; contradictions and a seed out of range are refused.

    Raises argparse.ArgumentTypeError with one sentence.
    """
    _check_seed(args.seed)
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


def piped_text() -> str:
    """All of the standard input without the newline that ends its last line; nothing if the shell closed it."""
    return "" if sys.stdin is None else sys.stdin.read().removesuffix("\n")


def _check_seed(seed: int | None) -> None:
    low, high = SEEDS
    if seed is not None and not low <= seed <= high:
        raise argparse.ArgumentTypeError(
            _("--seed must lie in {low}..{high}, got {seed}").format(low=low, high=high, seed=seed)
        )


def first_seed(seed: int | None) -> int:
    """The seed that was asked for, or a fresh one, told so that the text can be had again."""
    if seed is None:
        seed = torch.seed() % 2**31
        tell(_("seed: {seed}").format(seed=seed))
    return seed


def make_generator(seed: int | None, device: str) -> Generator:
    return Generator(device).manual_seed(first_seed(seed))


def check_device(name: str) -> torch.device:
    """The device, if this machine has it; ValueError in one sentence otherwise.

    Raises argparse.ArgumentTypeError for "meta", the device of tensors without numbers.
    """
    try:
        device = torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, NotImplementedError, ImportError):
        raise ValueError(_("--device must name a device of this machine, got {name!r}").format(name=name)) from None
    if device.type == "meta":
        raise argparse.ArgumentTypeError(_("--device must name a device that computes, got {name!r}").format(name=name))
    return device
