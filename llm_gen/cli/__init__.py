"""The command line: `python -m llm_gen chat | generate | compare | info`."""

from llm_gen.cli.arguments import main

__all__ = ["main"]
