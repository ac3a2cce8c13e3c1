"""A story language whose true next-token distribution is known."""

from llm_gen.story.tales import STORIES

__all__ = ["STORIES"]
