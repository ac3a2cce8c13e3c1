"""llm_gen: how a language model writes text. Small, exact and fast, in plain PyTorch."""

__version__ = "0.1.0"
