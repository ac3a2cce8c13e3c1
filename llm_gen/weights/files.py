"""Small text files of a checkpoint, with one sentence for each way in which they can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llm_gen.checks import CheckpointError

PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")  # endings of files that are never opened


def read_text(path: Path) -> str:
    """The text of a file in UTF-8. Raises CheckpointError if it is missing or cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CheckpointError(f"{path.parent} has no {path.name}") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CheckpointError(f"{path} cannot be read: it is no text in UTF-8") from None


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises CheckpointError if it is missing, broken or no object."""
    try:
        values = json.loads(read_text(path))
    except ValueError as error:
        raise CheckpointError(f"{path} is no JSON: {error}") from None
    except RecursionError:
        raise CheckpointError(f"{path} is no usable JSON: it is nested too deep") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} must hold a JSON object, got {type(values).__name__}")
    return values
