"""A story language whose true next-token distribution is known."""

from llm_gen.story.filtering import NotInLanguage
from llm_gen.story.judge import Judge, Verdict, judge
from llm_gen.story.pieces import split_pieces
from llm_gen.story.tales import STORIES
from llm_gen.story.truth import Truth

__all__ = ["STORIES", "Judge", "NotInLanguage", "Truth", "Verdict", "judge", "split_pieces"]
