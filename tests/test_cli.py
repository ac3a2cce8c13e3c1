"""The command line as it is used: what goes where, what is refused, what a conversation can be told."""

import io
import json

import pytest
from talkers import END, Talker, byte_tokenizer

from llm_gen.cli import commands, main, talk
from llm_gen.cli.columns import side_by_side

TOKENIZER = byte_tokenizer()


@pytest.fixture
def talker(monkeypatch):
    """Loading gives a model with the lines that the test sets."""
    model = Talker(TOKENIZER, ["One." + END, "Two." + END, "Three." + END, "Four." + END], 400)
    monkeypatch.setattr(commands, "load", lambda args: (model, TOKENIZER))
    return model


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_one_shot_pipes_cleanly(talker, capsys):
    assert main(["chat", "--prompt", "Hello", "--greedy"]) == 0
    out, err = capsys.readouterr()
    assert out == "One.\n"
    assert "template: ChatML; settings: greedy" in err


def test_json_has_tokens_log_probs_and_times(talker, capsys):
    assert main(["chat", "--prompt", "Hello", "--temperature", "0.5", "--json", "--seed", "3"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["text"] == "One." and record["finish"] == "end"
    assert [token["text"] for token in record["tokens"]] == ["O", "n", "e", ".", END]
    assert all(token["log_prob"] <= 0 and token["seconds"] >= 0 for token in record["tokens"])


def test_several_prompts_are_each_continued_alone(talker, capsys):
    assert main(["generate", "--prompt", "a", "--prompt", "b", "--temperature=0"]) == 0
    assert capsys.readouterr().out == "aOne.\nbTwo.\n"


def test_a_prompt_may_come_through_a_pipe(talker, capsys, monkeypatch):
    typed(monkeypatch, "Once")
    assert main(["generate", "--greedy"]) == 0
    assert capsys.readouterr().out == "OnceOne.\n"


def test_the_newline_that_echo_adds_is_no_part_of_the_prompt(talker, capsys, monkeypatch):
    typed(monkeypatch, "Once\n\n")
    assert main(["generate", "--greedy"]) == 0
    assert capsys.readouterr().out == "Once\nOne.\n", "one newline, not all"


def test_a_closed_input_is_an_empty_one(talker, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["chat"]) == 0
    assert main(["generate"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "--prompt must hold some text, got ''" in err.splitlines()[-1]


def test_messages_stay_out_of_the_text_where_stderr_is_closed(talker, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert main(["generate", "--prompt", "a"]) == 0
    assert capsys.readouterr().out == "aOne.\n"


def test_a_conversation_with_its_commands(talker, capsys, monkeypatch):
    lines = ["hi", "/retry", "/set temperature 1.2", "/set top-k 5", "/set top_k off", "/settings", "/reset", "yo"]
    typed(monkeypatch, "\n".join([*lines, "/help", "/nonsense", "/set colour 3", "/set top_p x", ""]))
    assert main(["chat", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "One.\nTwo.\nThree.\n"
    assert "temperature 1.2, top_p 0.95" in err and "temperature 1.2, top_k 5" in err
    assert "unknown command '/nonsense'" in err and "'colour' cannot be set" in err and "top_p cannot be 'x'" in err
    assert talker.prompts[0] == talker.prompts[1], "/retry asks the same again"
    assert len(talker.prompts[2]) < len(talker.prompts[1]) + 3, "/reset forgets"


def test_retry_without_a_message_says_so(talker, capsys, monkeypatch):
    typed(monkeypatch, "/retry\n")
    assert main(["chat"]) == 0
    assert "no message to answer again" in capsys.readouterr().err


def test_what_is_refused_in_one_line_does_not_end_the_talk(talker, capsys, monkeypatch):
    def refuse(session, line):
        raise TypeError("this line is refused")

    typed(monkeypatch, "/set max_new_tokens off\n/set max_time off\nhi\n")
    assert main(["chat", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "One.\n" and "max_new_tokens cannot be 'off'" in err
    typed(monkeypatch, "a\nb\n")
    monkeypatch.setattr(talk, "handle", refuse)
    assert main(["chat"]) == 0
    assert capsys.readouterr().err.count("this line is refused") == 2


def test_retry_after_a_refused_message_answers_the_one_before_it(talker, capsys, monkeypatch):
    typed(monkeypatch, f"hi\n{'x' * 500}\n/retry\n")
    assert main(["chat", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "One.\nTwo.\n" and err.count("must also hold an answer") == 1
    assert talker.prompts[0] == talker.prompts[1]


def test_ctrl_c_stops_the_answer_and_not_the_conversation(talker, capsys, monkeypatch):
    class Interrupting(io.StringIO):
        def write(self, text):
            if text == "e":
                raise KeyboardInterrupt
            return super().write(text)

    typed(monkeypatch, "hi\nagain\n")
    out = Interrupting()
    monkeypatch.setattr("sys.stdout", out)
    assert main(["chat", "--greedy"]) == 0
    assert out.getvalue() == "On\nTwo.\n"
    assert "(stopped)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chat", "--greedy", "--temperature", "1"], "--greedy and --temperature contradict"),
        (["chat", "--top_k", "5", "--top_p", "0.5"], "top_k and top_p must not be combined"),
        (["generate", "--prompt", " "], "--prompt must hold some text"),
        (["generate", "--prompt", "x", "--temperature", "nan"], "temperature must be finite"),
        (["generate", "--prompt", "x", "--seed", "9" * 23], "--seed must lie in -9223372036854775808..1844674"),
        (["compare", "--prompt", "x", "--seed", "9" * 23], "--seed must lie in"),
        (["generate", "--prompt", "x", "--top-p", "0"], "top_p must lie in"),
        (["compare", "--prompt", "x", "--temperature", "1,-2"], "temperature must be > 0"),
    ],
)
def test_wrong_arguments_cost_nothing_and_exit_with_2(arguments, words, capsys, monkeypatch):
    monkeypatch.setattr(commands, "load", lambda args: pytest.fail("loaded before the arguments were checked"))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and words in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["chat", "--temperature", "hot"], ["sing"], [], ["chat", "--temp", "1"]])
def test_what_the_parser_refuses_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2


def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(talker, capsys):
    assert main(["chat", "--prompt", "x" * 500]) == 1
    assert "must also hold an answer" in capsys.readouterr().err.splitlines()[-1]
    assert main(["generate", "--prompt", "x" * 500]) == 1
    assert "500 tokens" in capsys.readouterr().err.splitlines()[-1]


def test_a_missing_checkpoint_or_device_is_one_sentence(capsys):
    assert main(["info", "--ckpt", "no/such/folder"]) == 1
    assert "there is no model 'no/such/folder'" in capsys.readouterr().err.splitlines()[-1]
    assert main(["info", "--device", "abacus"]) == 1
    assert "--device must name a device" in capsys.readouterr().err.splitlines()[-1]
    assert main(["generate", "--prompt", "Once", "--device", "meta"]) == 2
    assert "--device must name a device that computes, got 'meta'" in capsys.readouterr().err.splitlines()[-1]


def test_settings_side_by_side_fit_the_terminal(talker, capsys):
    assert main(["compare", "--prompt", "Say", "--temperature", "0.3,0.8", "--top-p", "1,0.9", "--seed", "0"]) == 0
    out = capsys.readouterr().out
    for words in ("temperature 0.3", "temperature 0.8, top_p 0.9", "SayOne.", "SayFour.", "distinct-2", "surprise"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 100


def test_columns_are_one_below_the_other_where_the_terminal_is_narrow():
    from llm_gen.answer import Answer, TextSettings

    grid = [TextSettings(), TextSettings(greedy=True)]
    answers = [Answer(text=" of all things and more", full_log_probs=[-1.0]), Answer(text="")]
    text = side_by_side("Once", grid, answers, width=40)
    assert max(map(len, text.splitlines())) <= 40 and text.index("greedy") > text.index("ended by")


def test_a_setting_switched_off_and_on():
    from llm_gen.answer import TextSettings

    settings = talk.set_one(TextSettings(), "greedy", "on")
    assert str(settings) == "greedy" and str(talk.set_one(settings, "greedy", "off")) == "temperature 0.8, top_p 0.95"
    assert str(talk.set_one(TextSettings(), "temperature", "0")) == "greedy"
