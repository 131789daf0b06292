"""The pairs that the student is trained on."""

import random
from dataclasses import dataclass

import frames
import operations
import scenes
import wordnet
from operations import Operation
from text import sentences


@dataclass(frozen=True)
class Pair:
    """Two texts that belong together, and for each the text whose teacher vector it should have:
    a request in its frame is taught as the request without it, so that the frame weighs nothing."""

    left: str
    right: str
    left_as: str
    right_as: str
    # Pairs of one group (an API, a field of life) come in one batch: they are each other's hard negatives.
    group: str
    # How far the pair counts as given rather than as the teacher sees it, 0 to 1.
    given: float


def wanted(operation: Operation) -> str:
    """What the operation does, as after "to"."""
    return frames.infinitive(" ".join(_said(operation)[0].split()[:24]))


def _said(operation: Operation) -> list[str]:
    return sentences(operation.summary) + sentences(operation.description) or [operation.name]


def _of_operation(operation: Operation, draw: random.Random) -> list[Pair]:
    said, passage, group, name = _said(operation), operation.passage(), operation.api, operation.name
    found = []

    def add(left: str, right: str, left_as: str) -> None:
        found.append(Pair(left, right, left_as, passage, group, 0.5))

    add(frames.sometimes(wanted(operation), draw), passage, said[0])
    if operation.summary and len(said) > 1:
        add(frames.sometimes(frames.infinitive(said[1]), draw), passage, said[1])
    # In the words of the name against the prose, so that not only equal words match.
    add(name, " ".join(said)[:400], name)
    if len(said) > 1:
        add(frames.sometimes(wanted(operation), draw), f"{name}: {' '.join(said[1:])}"[:400], said[0])
    return found


def _of_wordnet() -> list[Pair]:
    found = []
    for synset in wordnet.synsets():
        group, gloss, names = f"wordnet/{synset.part}", synset.gloss, ", ".join(synset.words)
        found.append(Pair(gloss, names, gloss, names, group, 0.3))
        found += [Pair(example, gloss, example, gloss, group, 0.0) for example in synset.examples]
    return found


def pairs(everyday: bool = True, rounds: int = 3) -> list[Pair]:
    """All pairs, the same on every run. Without `everyday` the scenes are left out, to measure on them;
    `rounds` is how often each of them is told."""
    draw = random.Random(7)
    found: list[Pair] = []
    for operation in operations.training():
        found += _of_operation(operation, draw)
    for _ in range(rounds if everyday else 0):
        for ask, passage, group in scenes.pairs(draw):
            found.append(Pair(ask, passage, ask, passage, group, 0.5))
    return found + _of_wordnet()
