"""Hugging Face folders of six families, read and written. No transformers is needed, and no pickle is opened."""

from llm_gen.weights.hugging_face.reading import is_hugging_face, load_hugging_face
from llm_gen.weights.hugging_face.writing import save_hugging_face

__all__ = ["is_hugging_face", "load_hugging_face", "save_hugging_face"]
