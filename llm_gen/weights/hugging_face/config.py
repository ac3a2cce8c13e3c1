"""config.json to ModelConfig and back. A field that is not understood is refused by its name."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_gen.checks import CheckpointError
from llm_gen.config import ModelConfig
from llm_gen.weights.files import read_json
from llm_gen.weights.hugging_face.families import ACTIVATIONS, FAMILIES, NEEDED, Family
from llm_gen.weights.hugging_face.other_fields import DEMANDED, HARMLESS, NULLABLE

_ROPE_FIELDS = ("rope_theta", "rope_scaling", "rope_parameters")


def read_config(path: Path) -> tuple[Family, ModelConfig]:
    """The family and the config that a config.json describes.

    A field whose value is null counts as absent, unless null has a meaning there. Raises CheckpointError for an
    unknown family, for a missing, contradictory or unusable field, and for any field that is not understood.
    """
    values = read_json(path)
    model_type = values.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise CheckpointError(f"{path}: model_type must be one of {', '.join(FAMILIES)}, got {model_type!r}")
    family = FAMILIES[model_type]
    try:
        return family, to_ours(family, values)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: {_in_their_words(family, str(error))}") from None


def to_ours(family: Family, values: Mapping[str, Any]) -> ModelConfig:
    """ModelConfig from the fields of a config.json; ValueError or TypeError in our words."""
    nullable = NULLABLE & set(family.fields)
    values = {name: value for name, value in values.items() if value is not None or name in nullable}
    if family.settled["positions"] == "rope":
        values = _with_one_rope(family, values)
    ours = dict(family.settled)
    for name, (targets, default) in family.fields.items():
        value = values.get(name, default)
        if value is NEEDED:
            raise ValueError(f"{name} is missing")
        if targets == "activation":
            value = _activation(name, value, family.activations)
        ours |= dict.fromkeys(targets.split(), value)
    config = ModelConfig(**ours)
    _refuse_the_rest({name: values[name] for name in values if name not in family.fields}, config)
    return config


def to_theirs(family: Family, config: ModelConfig) -> dict[str, Any]:
    """The family's fields that say what a config says, as far as the family can say it."""
    ours = {**config.to_dict(), "activation": _their_activation(family, config.activation)}
    return {name: ours[targets.split()[0]] for name, (targets, _) in family.fields.items()}


def choose_family(config: ModelConfig) -> tuple[str, Family]:
    """The first family whose config.json brings the whole config back, dropout aside.

    Raises ValueError naming the fields in which the nearest family differs.
    """
    lost = {name: _lost(family, config) for name, family in FAMILIES.items()}
    nearest = min(lost, key=lambda name: len(lost[name]))
    if lost[nearest]:
        raise ValueError(
            f"config must fit one of the families {', '.join(FAMILIES)}; the nearest, {nearest}, "
            f"cannot have {', '.join(lost[nearest])}"
        )
    return nearest, FAMILIES[nearest]


def _lost(family: Family, config: ModelConfig) -> list[str]:
    wanted = {**config.to_dict(), "dropout": 0.0}
    if family.whole_heads and config.embed_dim % config.num_heads:
        return [f"embed_dim={config.embed_dim} with num_heads={config.num_heads}"]
    try:
        found = to_ours(family, to_theirs(family, config)).to_dict()
    except ValueError:  # no field for the head size, and none can be derived
        return [f"head_size={config.head_size}"]
    return [f"{name}={wanted[name]!r}" for name in wanted if found[name] != wanted[name]]


def _activation(name: str, value: object, known: Mapping[str, str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return known[value]


def _their_activation(family: Family, activation: str) -> str:
    """The first name that the family has for our activation; without one our own name, which reads as another."""
    return next((name for name, ours in family.activations.items() if ours == activation), activation)


def _with_one_rope(family: Family, values: Mapping[str, Any]) -> dict[str, Any]:
    """The rotary fields as `rope_theta` and `rope_scaling`, from the form of transformers 5 or the older one."""
    given = values.get("rope_parameters") or {}
    scaling = values.get("rope_scaling") or {}
    for name, part in (("rope_parameters", given), ("rope_scaling", scaling)):
        if not isinstance(part, Mapping):
            raise TypeError(f"{name} must be an object, got {part!r}")
    if given and scaling:
        raise ValueError("rope_parameters and rope_scaling must not both be given")
    rope = {name: value for name, value in {**given, **scaling}.items() if value is not None}
    inner, outer = rope.pop("rope_theta", None), values.get("rope_theta")
    if None not in (inner, outer) and inner != outer:
        raise ValueError(f"rope_theta must have one value, got {outer!r} and {inner!r}")
    rest = {name: value for name, value in values.items() if name not in _ROPE_FIELDS}
    theta = next((value for value in (inner, outer) if value is not None), family.fields["rope_theta"][1])
    return {**rest, "rope_theta": theta, "rope_scaling": _scaling(rope, values)}


def _scaling(rope: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The scaling as ModelConfig wants it; an original context that is not given is the context itself."""
    old_name = rope.pop("type", "default")
    kind = rope.pop("rope_type", old_name)
    if rope.get("partial_rotary_factor") == 1:
        del rope["partial_rotary_factor"]
    if kind == "default" and not rope:
        return None
    if kind == "llama3":
        rope.setdefault("original_max_position_embeddings", values.get("max_position_embeddings"))
    return {"rope_type": kind, **rope}


def _refuse_the_rest(values: Mapping[str, Any], config: ModelConfig) -> None:
    for name, value in values.items():
        if name in DEMANDED and value != DEMANDED[name]:
            raise ValueError(f"{name} must be {DEMANDED[name]!r} for this family, got {value!r}")
    _check_layer_types(values.get("layer_types"), config)
    _check_hidden_activation(values.get("hidden_activation"), config)
    understood = {*DEMANDED, *HARMLESS, "layer_types", "hidden_activation"}
    unknown = [f"{name} = {reprlib.repr(value)}" for name, value in values.items() if name not in understood]
    if unknown:
        raise ValueError(f"unsupported fields that could change the results: {', '.join(unknown)}")


def _check_layer_types(kinds: object, config: ModelConfig) -> None:
    """All layers are alike here, so a list of kinds may say no more than the window does."""
    kind = "full_attention" if config.window_size is None else "sliding_attention"
    alike = isinstance(kinds, list) and len(kinds) == config.num_layers and set(map(str, kinds)) == {kind}
    if kinds is not None and not alike:
        raise ValueError(f"layer_types must be {kind} for each layer, got {kinds!r}")


def _check_hidden_activation(name: object, config: ModelConfig) -> None:
    """Gemma's second name for the activation, with the plain meaning of the word."""
    if name is not None and _activation("hidden_activation", name, ACTIVATIONS) != config.activation:
        raise ValueError(f"hidden_activation must agree with hidden_act, got {name!r}")


def _in_their_words(family: Family, message: str) -> str:
    """Our field names in a message, replaced by those that stand in the file."""
    names = {target: name for name, (targets, _) in family.fields.items() for target in targets.split()}
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), message)
