"""Models and tokenizers out of files. Weights come from safetensors and GGUF; no pickle is ever opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from llm_gen.checks import CheckpointError
from llm_gen.model import DecoderLM
from llm_gen.quantized import to_int8
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import native, smollm2
from llm_gen.weights.files import PICKLES, read_json
from llm_gen.weights.gguf import load_gguf
from llm_gen.weights.gguf_tokenizer import read_gguf_tokenizer
from llm_gen.weights.hugging_face import load_hugging_face
from llm_gen.weights.tokenizer_folder import read_tokenizer

__all__ = ["NAMES", "load_model", "load_tokenizer"]

DATA = Path(__file__).parents[1] / "data"
DTYPES = ("float32", "int8", "native")
# The models that have a name, and where each one lies.
NAMES = {
    "tiny": lambda: DATA / "tiny",
    "tiny-draft": lambda: DATA / "tiny-draft",
    "tiny-undertrained": lambda: DATA / "tiny-undertrained",
    "smollm2": lambda: smollm2.fetch(progress=_tell),
}


def load_model(name_or_path: str | Path, dtype: str = "float32") -> DecoderLM:
    """A model in eval mode: "tiny", its small "tiny-draft" and its "tiny-undertrained" twin (one tokenizer for all
    three), "smollm2" (fetched on first use), a checkpoint folder (our own, or one of Hugging Face's), or a `.gguf`
    file. A name wins over a folder of that name: write "./tiny" for the folder.

    dtype: how the weights are kept. "float32"; "int8": linear layers and embeddings with one scale a channel, a quarter
    of the memory and a faster token; "native": the 4 and 8 bits of a `.gguf` file as they are. The last two are for
    generation only and compute in bfloat16, so their text is not the float32 model's token for token.

    Raises TypeError for another kind of argument, ValueError for another dtype or "native" for what is no `.gguf`
    file, CheckpointError if there is no such model or it is broken.
    """
    if not isinstance(dtype, str):
        raise TypeError(f"dtype must be a str, one of {', '.join(DTYPES)}, got {dtype!r}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    path = _locate(name_or_path)
    if path.is_dir() and dtype == "native":
        raise ValueError(f"dtype 'native' keeps the numbers of a .gguf file, but {path} is a folder")
    model = _load_folder(path) if path.is_dir() else load_gguf(path, native=dtype == "native")
    return to_int8(model) if dtype == "int8" else model


def load_tokenizer(name_or_path: str | Path) -> Tokenizer:
    """The tokenizer of a model; names, paths and errors as in `load_model`."""
    path = _locate(name_or_path)
    return read_tokenizer(path) if path.is_dir() else read_gguf_tokenizer(path)


def _load_folder(folder: Path) -> DecoderLM:
    """Our own checkpoints say so in `config.json`; any other folder is taken for one of Hugging Face's."""
    if read_json(folder / "config.json").get("format") == native.FORMAT:
        model, _ = native.load_checkpoint(folder)
        return model
    return load_hugging_face(folder)


def _locate(name_or_path: str | Path) -> Path:
    """The folder or file that is meant; it exists."""
    if not isinstance(name_or_path, (str, Path)):
        raise TypeError(f"name_or_path must be a str or a Path, got {name_or_path!r}")
    if name_or_path in NAMES:
        return NAMES[name_or_path]()
    path = Path(name_or_path)
    if not os.path.exists(path):  # Path.exists raises for a name that is too long
        known = ", ".join(NAMES)
        raise CheckpointError(f"there is no model {str(path)!r}: give a folder, a .gguf file or one of {known}")
    if path.suffix in PICKLES:
        raise CheckpointError(f"{path} looks like a pickle, which can run code when opened: convert it to safetensors")
    return path


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
