"""Beam search: against transformers on the families, and against every text there is on small vocabularies."""

import pytest
import torch
from stubs import FAMILIES, Stub, pad_left, tiny
from transformers import AutoModelForCausalLM

from llm_gen import generate
from llm_gen.beyond import beam_search
from llm_gen.weights.hugging_face import save_hugging_face

PROMPTS = torch.tensor([[3, 1, 4, 1], [9, 2, 6, 5]])
PAD = 30  # transformers takes a pad of 0 for none and pads with the eos
CASES = [  # width, length penalty, early stopping, eos
    (2, 1.0, False, 3),
    (4, 0.0, "never", [3, 7, 9]),
    (4, 2.0, "never", [3, 7]),
    (3, 1.0, True, [3, 7, 9, 11]),
    (2, -1.0, False, [3, 7, 9]),
    (3, 1.0, False, None),
]


class Random:
    """A tiny Markov model: logits that depend on the last token and on the length."""

    def __init__(self, vocab_size, seed, max_seq_len=50):
        self.vocab_size, self.max_seq_len = vocab_size, max_seq_len
        self.table = torch.randn(max_seq_len, vocab_size, vocab_size, generator=torch.Generator().manual_seed(seed)) * 2

    def __call__(self, ids, attention_mask=None, cache=None):
        return torch.stack([self.table[column][ids[:, column]] for column in range(ids.shape[1])], dim=1)

    def make_cache(self, batch_size):
        return None


def every_text(model, prompt, steps, eos):
    """All texts that end with the eos or after `steps` tokens, with the sum of their log-probs."""
    texts = [((), 0.0)]
    for _ in range(steps):
        grown = []
        for text, total in texts:
            if text and text[-1] in eos:
                grown.append((text, total))
                continue
            log_probs = model(torch.tensor([[*prompt, *text]]))[0, -1].double().log_softmax(-1)
            grown += [((*text, token), total + log_probs[token].item()) for token in range(model.vocab_size)]
        texts = grown
    return texts


def parity_model(family):
    # On the CPU transformers' experts take only widths that are multiples of 16 bytes.
    return tiny(family, mlp_dim=64) if family == "Mixtral" else tiny(family)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    def load(family):
        folder = tmp_path_factory.mktemp(family) / "model"
        save_hugging_face(folder, parity_model(family))
        return AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()

    return load


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_finds_the_same_texts_with_the_same_scores(family, theirs):
    model, other = parity_model(family), theirs(family)
    for width, length_penalty, early, eos in CASES:
        found = beam_search(
            model, PROMPTS, 10, width, length_penalty=length_penalty, early_stopping=early, results=2,
            eos_token_id=eos, pad_token_id=PAD,
        )  # fmt: skip
        wanted = other.generate(
            PROMPTS, attention_mask=torch.ones_like(PROMPTS), max_new_tokens=10, num_beams=width, do_sample=False,
            length_penalty=length_penalty, early_stopping=early, eos_token_id=eos, pad_token_id=PAD,
            num_return_sequences=2, output_scores=True, return_dict_in_generate=True,
        )  # fmt: skip
        sequences = wanted.sequences.view(2, 2, -1)
        longest = max(sequences.shape[-1], found.sequences.shape[-1])
        fill = [
            torch.nn.functional.pad(part, (0, longest - part.shape[-1]), value=PAD)
            for part in (sequences, found.sequences)
        ]
        assert torch.equal(*fill), (family, width, length_penalty, early, eos)
        torch.testing.assert_close(found.scores, wanted.sequences_scores.view(2, 2).double(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_width_that_covers_all_texts_finds_the_best_of_all(seed, length_penalty):
    # 9 tokens, of which 8 go on: 8 beams cover the first step, and with 2 steps every text is a candidate.
    model, eos = Random(9, seed), [8]
    texts = every_text(model, [0], 2, eos)
    ranked = sorted(((total / len(text) ** length_penalty, text) for text, total in texts), reverse=True)[:3]
    found = beam_search(
        model, torch.tensor([[0]]), 2, 8, length_penalty=length_penalty, early_stopping="never", results=3,
        eos_token_id=eos,
    )  # fmt: skip
    for place, (score, text) in enumerate(ranked):
        assert found.scores[0, place].item() == pytest.approx(score, abs=1e-6)
        assert found.sequences[0, place, 1 : 1 + len(text)].tolist() == list(text)


def test_width_one_is_greedy():
    for family in ("GPT2", "Mistral"):
        model = tiny(family)
        found = beam_search(model, PROMPTS, 12, 1, eos_token_id=None)
        assert torch.equal(found.sequences[:, 0], generate(model, PROMPTS, 12, False))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cache_changes_nothing_also_past_window_and_context(family):
    model = tiny(family, max_len=12)
    fast, slow = (beam_search(model, PROMPTS, 14, 3, results=3, eos_token_id=5, use_cache=use) for use in (True, False))
    assert torch.equal(fast.sequences, slow.sequences)
    torch.testing.assert_close(fast.scores, slow.scores, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", ["GPT2", "Mistral", "Mixtral"])
def test_a_padded_row_finds_what_it_finds_alone(family):
    model, prompts = tiny(family), [[5, 6], [3, 1, 4, 1, 5], [2, 7, 1]]
    ids, mask = pad_left(prompts)
    together = beam_search(model, ids, 8, 3, eos_token_id=[3, 9], attention_mask=mask, results=2)
    for row, prompt in enumerate(prompts):
        alone = beam_search(model, torch.tensor([prompt]), 8, 3, eos_token_id=[3, 9], results=2)
        ours, theirs = together.sequences[row, :, ids.shape[1] :], alone.sequences[0, :, len(prompt) :]
        assert torch.equal(ours[:, : theirs.shape[1]], theirs)
        torch.testing.assert_close(together.scores[row], alone.scores[0], atol=1e-4, rtol=0)


def test_groups_are_told_what_the_earlier_ones_took():
    model, steps, groups, diversity = Random(5, 1), 6, 3, 1.5
    found = beam_search(model, torch.tensor([[0]]), steps, groups, groups=groups, diversity=diversity, results=groups)
    texts, totals = [[0] for _ in range(groups)], [0.0] * groups
    for _ in range(steps):
        taken = torch.zeros(5, dtype=torch.float64)
        for group, text in enumerate(texts):
            values = model(torch.tensor([text]))[0, -1].double().log_softmax(-1) - diversity * taken
            token = int(values.argmax())
            totals[group] += values[token].item()
            taken[token] += 1
            text.append(token)
    wanted = sorted(zip(totals, texts), key=lambda pair: -pair[0])
    assert found.sequences[0].tolist() == [text for _, text in wanted]
    assert found.scores[0].tolist() == pytest.approx([total / steps for total, _ in wanted])
    assert len({tuple(text) for text in found.sequences[0].tolist()}) == groups


def test_no_steps_and_no_rows():
    found = beam_search(Stub("NEXT"), torch.tensor([[1, 2]]), 0, 2, results=2)
    assert found.sequences.tolist() == [[[1, 2], [1, 2]]] and found.scores.tolist() == [[0, 0]]
    assert beam_search(Stub("NEXT"), torch.zeros((0, 2), dtype=torch.long), 3, 2).sequences.shape[0] == 0


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"width": 0}, ValueError, "width must be an integer >= 1, got 0"),
        ({"width": 11}, ValueError, "width must leave each beam a token of its own among 10, got 11"),
        ({"width": 10, "eos_token_id": 3}, ValueError, "width must leave each beam a token"),
        ({"width": 2, "results": 3}, ValueError, "results must be <= width 2, got 3"),
        ({"width": 3, "groups": 2}, ValueError, "width must be a multiple of groups"),
        ({"width": 2, "diversity": -1}, ValueError, "diversity must be >= 0"),
        ({"width": 2, "length_penalty": float("nan")}, ValueError, "length_penalty must be finite"),
        ({"width": 2, "early_stopping": "soon"}, ValueError, "early_stopping must be True, False or 'never'"),
        ({"width": True}, TypeError, "width must be an integer"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, error, words):
    with pytest.raises(error, match=words):
        beam_search(Stub("NEXT"), torch.tensor([[1]]), 3, **settings)
