"""Word classes of the stories: every value has named forms, and a form may have several wordings.

A table is text: a header `[class column column]`, then lines with cells between bars. The first cell is the form
`name`, or several names with commas that share the other cells; `;` separates wordings of one cell, which are
equally likely. Classes whose names differ only in a number at the end are a family, `folk` and `folk2`: people of
different parts, but people. They have the same columns.
"""

from dataclasses import dataclass

from llm_gen.story.pieces import split_pieces


@dataclass(frozen=True, eq=False)
class Value:
    """One person, thing or place. `forms` maps a form to its wordings."""

    name: str
    forms: dict[str, tuple[str, ...]]

    def wordings(self, form: str, space: bool) -> tuple[tuple[str, ...], ...]:
        """The form as tuples of pieces; a capitalised form name asks for a capital letter."""
        key = form[0].lower() + form[1:]
        if key not in self.forms:
            raise ValueError(f"{self.name!r} has no form {key!r}, only {sorted(self.forms)}")
        texts = self.forms[key]
        if key != form:
            texts = tuple(text[0].upper() + text[1:] for text in texts)
        return tuple(split_pieces(" " * space + text) for text in texts)


def with_article(phrase: str) -> str:
    """ "an old hat", "a red hat": by the first letter; "honest" is the one exception among these words."""
    return ("an " if phrase[0].lower() in "aeiou" or phrase == "honest" else "a ") + phrase


def make_value(name: str, columns: list[str], cells: list[str]) -> Value:
    forms = {"name": (name,), "a": (with_article(name),), "the": ("the " + name,)}
    for column, cell in zip(columns, cells, strict=True):
        forms[column] = tuple(wording.strip() for wording in cell.split(";"))
    return Value(name, forms)


def parse_lexicon(tables: str) -> dict[str, tuple[Value, ...]]:
    """Class name -> its values, in the order of the table."""
    classes: dict[str, list[Value]] = {}
    for line in filter(None, map(str.strip, tables.splitlines())):
        if line.startswith("["):
            name, *columns = line.strip("[]").split()
            values = classes.setdefault(name, [])
        else:
            names, *cells = (cell.strip() for cell in line.split("|"))
            values += [make_value(name, columns, cells) for name in names.split(", ")]
    return {name: tuple(values) for name, values in classes.items()}


def family(kind: str) -> str:
    """The class without its number."""
    return kind.rstrip("0123456789")


def join_families(lexicon: dict[str, tuple[Value, ...]]) -> dict[str, tuple[Value, ...]]:
    """Family name -> the values of all its classes."""
    joined: dict[str, tuple[Value, ...]] = {}
    for kind, values in lexicon.items():
        joined[family(kind)] = joined.get(family(kind), ()) + values
    return joined
