"""Trains the models that travel with the package: `python -m llm_gen.train_tiny tiny`.

Teacher forcing on fresh stories: one story a row, cross-entropy at every token and at <eos>. The language is ours, so
what may follow a prefix is known: the target of a place is that whole distribution, not the one token drawn from it.
The gradient is the same on average and much less noisy. (Soft targets, arXiv:1503.02531; the teacher is the grammar.)

AdamW moves the embeddings and the norms, Muon (Jordan et al., 2024; PyTorch 2.9 or newer) the matrices. A run depends
on its recipe alone. It saves its state once in a while and goes on from there when started again.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from llm_gen.model import DecoderLM
from llm_gen.story import STORIES, Truth
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.native import replace_files, save_checkpoint

CONTROL = ["<pad>", "<bos>", "<eos>"]
DATA = Path(__file__).parent / "data"
POOL = 32  # batches drawn together and sorted by length, so that rows of one batch need little padding


@dataclass(frozen=True)
class Recipe:
    """Everything a run depends on.

    exact_targets=False: the targets are the tokens drawn, as for any text whose true distribution nobody knows.
    learn_eos=False, for such targets: <eos> stays out of the loss, and the model never stops.
    embed_std: spread of the embeddings at the start. With the usual 0.02 the names of a class stay almost the same
    vector for thousands of steps, and no head can copy the right one; 0.5 keeps them apart from the first step.
    """

    steps: int
    batch_size: int = 8
    learning_rate: float = 3e-3  # of AdamW
    matrix_rate: float = 5e-3  # of Muon
    embed_std: float = 0.5
    warmup: int = 200
    weight_decay: float = 0.01
    seed: int = 0
    exact_targets: bool = True
    learn_eos: bool = True
    vocab_size: int = 1024
    sizes: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.exact_targets and not self.learn_eos:
            raise ValueError("learn_eos must be True with exact_targets, since the truth holds <eos>, got False")

    def config(self) -> dict:
        shape = {"max_position_embeddings": 256, "tie_embeddings": True, "norm": "rms", "gated_mlp": True}
        return {"vocab_size": self.vocab_size, **shape, **self.sizes}


TINY = {"embed_dim": 128, "num_heads": 4, "num_kv_heads": 2, "num_layers": 4, "mlp_dim": 384}
DRAFT = {"embed_dim": 64, "num_heads": 2, "num_kv_heads": 1, "num_layers": 2, "mlp_dim": 160}
RECIPES = {
    "tiny": Recipe(steps=12_000, sizes=TINY),
    "tiny-draft": Recipe(steps=8000, learning_rate=5e-3, embed_std=0.15, sizes=DRAFT),
    "tiny-undertrained": Recipe(steps=400, exact_targets=False, learn_eos=False, sizes=TINY),
}


def train_tokenizer(vocab_size: int, seed: int = 0, stories: int = 4000) -> Tokenizer:
    """A byte-level BPE tokenizer with <pad>, <bos>, <eos>; it puts <bos> in front of a text."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=CONTROL, initial_alphabet=alphabet, show_progress=False
    )
    texts = (STORIES.sample(random.Random(f"tokenizer {seed} {i}")) for i in range(stories))
    backend.train_from_iterator(texts, trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", CONTROL.index("<bos>"))]
    )
    return Tokenizer(backend, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>")


def draw_pool(recipe: Recipe, tokenizer: Tokenizer, number: int) -> list[Tensor]:
    """POOL batches of token rows (B, T), padded on the right, drawn from the seed and the pool's number."""
    rng = random.Random(f"train {recipe.seed} {number}")
    texts = [STORIES.sample(rng) for _ in range(POOL * recipe.batch_size)]
    rows = [torch.tensor([*code.ids, tokenizer.eos_id]) for code in tokenizer.backend.encode_batch(texts)]
    rows.sort(key=len)
    batches = [rows[i : i + recipe.batch_size] for i in range(0, len(rows), recipe.batch_size)]
    rng.shuffle(batches)
    pad = tokenizer.pad_id
    return [torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=pad) for batch in batches]


def true_targets(rows: Tensor, truth: Truth) -> Tensor:
    """What follows each prefix of the stories in rows (B, T), float32 (B, T - 1, V); zeros where a story is over."""
    eos, stories = truth.tokenizer.eos_id, rows.tolist()
    exact = [truth.along(story[: story.index(eos) + 1])[1:].float() for story in stories]
    return torch.nn.utils.rnn.pad_sequence(exact, batch_first=True)


def drawn_targets(rows: Tensor, vocab_size: int, ignored: list[int]) -> Tensor:
    """The tokens that follow, one-hot, float32 (B, T - 1, V); zeros for those in `ignored`."""
    counted = ~torch.isin(rows[:, 1:], torch.tensor(ignored))
    return F.one_hot(rows[:, 1:], vocab_size) * counted[..., None].float()


def story_loss(model: DecoderLM, rows: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats per target of rows (B, T); targets (B, T - 1, V), rows of zeros do not count."""
    loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), targets.flatten(0, 1), reduction="sum")
    return loss / targets.sum()


def schedule(recipe: Recipe, step: int) -> float:
    """Share of the learning rates in (0, 1]: linear warm-up, then half a cosine down to nothing."""
    if step < recipe.warmup:
        return (step + 1) / recipe.warmup
    done = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return 0.5 * (1 + math.cos(math.pi * done))


def make_optimizers(model: DecoderLM, recipe: Recipe) -> dict[torch.optim.Optimizer, float]:
    """Each optimiser with the learning rate that `schedule` scales."""
    matrices = [weight for block in model.blocks for weight in block.parameters() if weight.ndim == 2]
    taken = set(matrices)
    others = [weight for weight in model.parameters() if weight not in taken]
    decay = recipe.weight_decay
    adamw = torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=decay, fused=True)
    muon = torch.optim.Muon(matrices, weight_decay=decay, adjust_lr_fn="match_rms_adamw")
    return {adamw: recipe.learning_rate, muon: recipe.matrix_rate}


class Run:
    """Model, optimisers and step of one training run."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self.recipe, self.tokenizer, self.step = recipe, tokenizer, 0
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed)
            self.model = DecoderLM(recipe.config())
            torch.nn.init.normal_(self.model.embed.weight, std=recipe.embed_std)
        self.optimizers = make_optimizers(self.model, recipe)
        self.truth = Truth(tokenizer) if recipe.exact_targets else None
        self.ignored = [tokenizer.pad_id] + ([] if recipe.learn_eos else [tokenizer.eos_id])

    def batch(self) -> Tensor:
        number, index = divmod(self.step, POOL)
        if index == 0 or not hasattr(self, "pool"):
            self.pool = draw_pool(self.recipe, self.tokenizer, number)
        return self.pool[index]

    def targets(self, rows: Tensor) -> Tensor:
        if self.truth is None:
            return drawn_targets(rows, self.model.vocab_size, self.ignored)
        return true_targets(rows, self.truth)

    def advance(self) -> float:
        """One step; returns the loss before it."""
        rows = self.batch()
        loss = story_loss(self.model, rows, self.targets(rows))
        self.model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer, rate in self.optimizers.items():
            optimizer.param_groups[0]["lr"] = rate * schedule(self.recipe, self.step)
            optimizer.step()
        self.step += 1
        return loss.item()

    def tensors(self) -> dict[str, Tensor]:
        """Weights and moments under flat names; they share memory with the run."""
        names = {weight: name for name, weight in self.model.named_parameters()}
        adamw, muon = self.optimizers
        flat = {f"{name}/weight": weight.data for weight, name in names.items()}
        for optimizer, moments in ((adamw, ("exp_avg", "exp_avg_sq", "step")), (muon, ("momentum_buffer",))):
            for weight in optimizer.param_groups[0]["params"]:
                state = optimizer.state[weight]
                for moment in moments:
                    empty = torch.zeros(()) if moment == "step" else torch.zeros_like(weight.data)
                    flat[f"{names[weight]}/{moment}"] = state.setdefault(moment, empty)
        return flat

    def save(self, path: Path) -> None:
        about = {"step": str(self.step), "recipe": repr(self.recipe)}
        replace_files({path: lambda fresh: save_file(self.tensors(), fresh, metadata=about)})

    def resume(self, path: Path) -> None:
        """Goes on from a saved state; raises ValueError if it is broken or another recipe wrote it."""
        try:
            with safe_open(path, "pt") as file:
                about = file.metadata() or {}
                if about.get("recipe") != repr(self.recipe):
                    raise ValueError(_("{path} belongs to another recipe; remove it to start anew").format(path=path))
                for name, tensor in self.tensors().items():
                    tensor.copy_(file.get_tensor(name))
                self.step = int(about["step"])
        except (SafetensorError, OSError, KeyError, RuntimeError):
            raise ValueError(
                _("{path} is no whole state of a run; remove it to start anew").format(path=path)
            ) from None


def train(
    recipe: Recipe, tokenizer: Tokenizer, state: Path | None = None, save_every: float = 45.0, report=print
) -> DecoderLM:
    """The trained model, in eval mode. state: file to resume from and to save to, every `save_every` seconds."""
    run = Run(recipe, tokenizer)
    if state and state.exists():
        run.resume(state)
    begun, saved, first, losses = time.monotonic(), time.monotonic(), run.step, []
    while run.step < recipe.steps:
        losses.append(run.advance())
        now = time.monotonic()
        if state and now - saved > save_every:
            run.save(state)
            saved = now
        if run.step % 50 == 0 or run.step == recipe.steps:
            left = (now - begun) / (run.step - first) * (recipe.steps - run.step)
            report(progress(run.step, recipe.steps, sum(losses) / len(losses), left))
            losses = []
    return run.model.eval()


def progress(step: int, steps: int, loss: float, seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return _("step {step}/{steps}  loss {loss:.4f} nats per token  {minutes}:{seconds:02d} left").format(
        step=step, steps=steps, loss=loss, minutes=minutes, seconds=seconds
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m llm_gen.train_tiny", description=_("Train a story model."))
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--out", type=Path, help=_("folder of the checkpoint (default: inside the package)"))
    options = parser.parse_args(arguments)
    try:
        make_checkpoint(RECIPES[options.name], options.out or DATA / options.name)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def make_checkpoint(recipe: Recipe, out: Path) -> None:
    """Trains into the folder `out`, or goes on where a run there was stopped."""
    out.mkdir(parents=True, exist_ok=True)
    state = out / "training.safetensors"
    tokenizer = train_tokenizer(recipe.vocab_size)
    gc.disable()  # exact targets make millions of small tuples: to look for cycles takes longer than to make them
    model = train(recipe, tokenizer, state, report=lambda line: print(line, flush=True))
    save_checkpoint(out, model, tokenizer)
    state.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
