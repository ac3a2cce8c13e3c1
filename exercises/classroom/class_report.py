"""The page of a class: which exercises and which mistakes, who is where, whose code is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from exercises.classroom.page import bar, listing, page, table, text, tiles
from exercises.classroom.summary import PARTIAL, Item, Summary, published
from exercises.grader.catalog import Exercise
from exercises.grader.verdict import NOT_ATTEMPTED, PASSED, WRONG
from llm_gen.text import _

KINDS = {PASSED: "good", PARTIAL: "part", WRONG: "bad", NOT_ATTEMPTED: "none"}
MOST_ROWS = 300  # of the heat map; a larger class is shown by tenths
MOST_PAIRS = 50
MOST_PROBLEMS = 1000


def class_report(summary: Summary, exercises: Iterable[Exercise]) -> str:
    """The page as HTML."""
    known = {exercise.name: exercise for exercise in exercises}
    return page(_("The class"), _parts(summary, known))


def _parts(summary: Summary, known: dict[str, Exercise]) -> Iterator[str]:
    middle = f"{100 * median(summary.scores):.0f} %" if summary.scores else "-"
    counted = {_("submissions"): summary.students, **{_(status): n for status, n in summary.statuses.items()}}
    yield tiles({**counted, _("median of the points"): middle})
    yield f'<p class="quiet">{text(_("Isolation of the answers:"))} {text(_counts(summary.isolation))}</p>'
    yield f"<h2>{text(_('Exercises and mistakes'))}</h2>{_key()}"
    header = [_("exercise"), _("objective"), _("answers"), _("passed"), _("mean points"), _("named mistakes")]
    yield table(header, (_item(summary, known[name]) for name in summary.names), numbers=[3, 4])
    yield f"<h2>{text(_('Who is where'))}</h2>" + _heat(summary, known)
    yield from _identities(summary, known)
    yield f"<h2>{text(_('Submissions with a remark'))}</h2>"
    told = sorted(summary.problems)[:MOST_PROBLEMS]
    rows = ([text(id), text(_(status)), text("; ".join(problems))] for id, status, problems in told)
    yield table([_("submission"), _("status"), _("remark")], rows) if told else listing([])


def _counts(counter: dict[str, int]) -> str:
    return ", ".join(f"{name} ({n})" for name, n in counter.items()) or "-"


def _key() -> str:
    names = {"good": _("passed"), "part": _("partly right"), "bad": _("wrong"), "none": _("not attempted or missing")}
    return '<p class="key">' + "".join(f'<i class="{kind}"></i>{text(words)}' for kind, words in names.items()) + "</p>"


def _item(summary: Summary, exercise: Exercise) -> list[str]:
    item, total = summary.items.get(exercise.name, Item()), len(summary.heat)
    parts = dict.fromkeys(KINDS.values(), 0)
    for status, n in item.statuses.items():
        parts[KINDS.get(status, "none")] += n
    mistakes = (
        f"{n} \N{MULTIPLICATION SIGN} {text(_said(exercise, name))}" for name, n in item.mistakes.most_common()
    )
    return [
        f"{exercise.chapter}. <b>{text(exercise.short)}</b>", text(exercise.task.objective),
        bar(parts, total, _counts(item.statuses)),
        f"{item.statuses[PASSED]} / {total}", f"{item.score / total:.1f}" if total else "-", listing(mistakes),
    ]  # fmt: skip


def _said(exercise: Exercise, mistake: str) -> str:
    return " ".join((exercise.wrong[mistake].__doc__ or mistake).split()) if mistake in exercise.wrong else mistake


def _heat(summary: Summary, known: dict[str, Exercise]) -> str:
    """A row for each student, or for each tenth of a large class; a column for each exercise."""
    ranked = sorted(summary.heat, key=lambda row: (-sum(row[2]), row[0]))
    rows = [(student, list(shares)) for _id, student, shares in ranked]
    if len(rows) > MOST_ROWS:
        tenths = [rows[len(rows) * i // 10 : len(rows) * (i + 1) // 10] for i in range(10)]
        label = _("tenth {n} of the class ({count} students)")
        rows = [(label.format(n=i + 1, count=len(part)), _means(part)) for i, part in enumerate(tenths)]
    head = "".join(f"<th>{text(known[name].short)}</th>" for name in summary.names)
    lines = (f"<tr><th>{text(label)}</th>{_cells(summary.names, shares)}</tr>" for label, shares in rows)
    body = "\n".join(lines)
    return f'<div class="heat"><table><thead><tr><td></td>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _means(rows: list[tuple[str, list[int]]]) -> list[int]:
    return [round(sum(column) / len(rows)) for column in zip(*(shares for _label, shares in rows))]


def _cells(names: list[str], shares: list[int]) -> str:
    return "".join(
        f'<td style="background: rgba(var(--heat), {0.06 + 0.94 * share / 100:.2f})" title="{name}: {share} %"></td>'
        for name, share in zip(names, shares)
    )


def _identities(summary: Summary, known: dict[str, Exercise]) -> Iterator[str]:
    yield f"<h2>{text(_('Suspicious identities'))}</h2>"
    yield "<p>" + text(_(
        "Answers whose code is the same but for names, comments and types. Short answers and code that a fifth of the "
        "class shares are left out. The same wrong code says more than the same right code; neither is a proof."
    )) + "</p>"  # fmt: skip
    pairs = summary.pairs()[:MOST_PAIRS]
    header = [_("two submissions"), _("exercises with the same code"), _("of these wrong")]
    rows = ([f"{text(one)}<br>{text(other)}", str(n), str(wrong)] for one, other, n, wrong in pairs)
    yield table(header, rows, numbers=[1, 2]) if pairs else listing([])
    ours = published(known.values())
    copies = [
        f"<b>{text(known[name].short)}</b>: {text(', '.join(id for id, _right in own))}"
        for (name, code), own in sorted(summary.same.items())
        if (name, code) in ours
    ]
    yield f"<p>{text(_('The same code as an answer of the course itself:'))}</p>" + listing(copies)
