"""A class in numbers: for each exercise who passed and which mistakes were made; whose code is the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from exercises.classroom.identity import fingerprint
from exercises.classroom.mark import GRADED
from exercises.grader.catalog import Exercise
from exercises.grader.verdict import PASSED

Row = dict[str, Any]
COMMON = 0.2  # code that a larger share of the class has is how one writes it
LARGEST_GROUP = 30  # of a larger one pairs are not formed
PARTIAL = "partly right"


@dataclass
class Item:
    """One exercise: how many have each status, and how many made each named mistake."""

    statuses: Counter[str] = field(default_factory=Counter)
    mistakes: Counter[str] = field(default_factory=Counter)
    score: float = 0.0


@dataclass
class Summary:
    """What the class report shows. heat: (id, student, share of the points in each exercise)."""

    names: list[str]
    students: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    isolation: Counter[str] = field(default_factory=Counter)
    items: dict[str, Item] = field(default_factory=dict)
    heat: list[tuple[str, str, bytes]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    problems: list[tuple[str, str, list[str]]] = field(default_factory=list)
    same: dict[tuple[str, str], list[tuple[str, bool]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Row) -> None:
        self.students += 1
        self.statuses[row["status"]] += 1
        if row["problems"]:
            self.problems.append((row["id"], row["status"], row["problems"]))
        if row["status"] != GRADED:
            return
        self.isolation[row["isolation"] or "nothing was run"] += 1
        self.scores.append(row["score"] / row["max"] if row["max"] else 0.0)
        shares = bytes(self._add(row, name) for name in self.names)
        self.heat.append((row["id"], row["student"], shares))

    def _add(self, row: Row, name: str) -> int:
        """Count one answer; its share of the points in per cent."""
        own, item = row["exercises"][name], self.items.setdefault(name, Item())
        partly = own["status"] != PASSED and own["score"] > 0
        item.statuses[PARTIAL if partly else own["status"]] += 1
        item.mistakes.update(own["mistakes"])
        item.score += own["score"]
        if own["code"]:
            self.same[name, own["code"]].append((row["id"], own["status"] == PASSED))
        return round(100 * own["score"] / own["max"]) if own["max"] else 0

    def identities(self) -> list[tuple[str, list[str], bool]]:
        """Groups of submissions with the same code in one exercise, wrong answers first: (exercise, ids, right)."""
        most = max(3, COMMON * self.students)
        groups = [
            (name, [id for id, _right in own], own[0][1])
            for (name, _code), own in self.same.items()
            if 1 < len(own) <= most
        ]
        return sorted(groups, key=lambda group: (group[2], group[0], group[1]))

    def pairs(self) -> list[tuple[str, str, int, int]]:
        """Two submissions with the same code, in how many exercises, and in how many of these wrong; most first."""
        equal, wrong = Counter(), Counter()
        for _name, ids, right in self.identities():
            for pair in combinations(sorted(set(ids)), 2) if len(ids) <= LARGEST_GROUP else ():
                equal[pair] += 1
                wrong[pair] += not right
        found = [(*pair, equal[pair], wrong[pair]) for pair in equal]
        return sorted(found, key=lambda pair: (-pair[3], -pair[2], pair[:2]))


def summarise(rows: Iterable[Row], names: list[str]) -> Summary:
    summary = Summary(names)
    for row in rows:
        summary.add(row)
    return summary


def published(exercises: Iterable[Exercise]) -> dict[tuple[str, str], str]:
    """The fingerprints of the course's own answers, so that a copy of one is recognised."""
    found = {}
    for exercise in exercises:
        for name in (exercise.answer_name, *exercise.right) if exercise.is_code else ():
            found[exercise.name, fingerprint(exercise.page_source, name)] = name
    return {key: name for key, name in found.items() if key[1]}
