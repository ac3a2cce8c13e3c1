"""The grammar without its memory: every sentence of the stories, in any order, every slot filled on its own
with any value of the family."""

from llm_gen.story.grammar import Grammar
from llm_gen.story.notation import Alias, Body, Call, Group, Slot, Symbol


def relax(grammar: Grammar) -> Grammar:
    """A grammar of all texts made of the grammar's sentences. What it accepts is grammatical, if not consistent."""
    rules, sentences = {}, []
    for name, alternatives in grammar.rules.items():
        bodies = [(p, tuple(forget(part, grammar) for part in parts)) for p, parts in alternatives]
        if name[0].isupper():
            sentences += [body for _, parts in bodies for body in parts if body and not is_frame(body)]
        else:
            rules[name] = bodies
    one, more = (Call("Sentence"),), (Call("Story"),)
    rules["Sentence"] = [(1 / len(sentences), (body,)) for body in sentences]
    rules["Story"] = [(0.5, (one,)), (0.5, (one, more))]
    return Grammar(rules, grammar.families)


def forget(body: Body, grammar: Grammar) -> Body:
    return tuple(forget_symbol(symbol, grammar) for symbol in body if not isinstance(symbol, Alias))


def forget_symbol(symbol: Symbol, grammar: Grammar) -> Symbol:
    if isinstance(symbol, Group):
        return Group(tuple(forget(body, grammar) for body in symbol.bodies))
    if isinstance(symbol, Slot):
        return Slot(None, grammar.family_of_slot(symbol), symbol.form, symbol.space)
    return symbol


def is_frame(body: Body) -> bool:
    """Whether a body only calls a rule of sentences."""
    return len(body) == 1 and isinstance(body[0], Call) and body[0].rule[0].isupper()
