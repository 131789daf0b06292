"""Text to pieces, exactly as the crate reads it: `tests/golden/embedding-tokens.jsonl` holds both to it."""

import re
import unicodedata
from typing import Iterable

import numpy as np
from scipy.sparse import csr_matrix

_MAX_BYTES = 65_536
_MAX_WORDS = 512
_MAX_WORD = 64

_RUN = re.compile(r"[A-Za-z0-9]+")
# Before an upper-case letter after a lower-case letter or digit, and before the last of several
# upper-case letters when a lower-case one follows.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> list[str]:
    """Runs of ASCII letters and digits, parted at camel humps, in lower case."""
    if not text.isascii() or len(text) > _MAX_BYTES:
        text = text.encode()[:_MAX_BYTES].decode(errors="ignore")
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.category(c).startswith("M"))
    found: list[str] = []
    for run in _RUN.findall(text):
        found += [word[:_MAX_WORD].lower() for word in _HUMP.split(run)]
        if len(found) >= _MAX_WORDS:
            break
    return found[:_MAX_WORDS]


class Tokenizer:
    """Greedy WordPiece over a vocabulary, and one more piece for every pair `a b` in it."""

    def __init__(self, vocabulary: list[str]) -> None:
        self.vocabulary = vocabulary
        self._row = {entry: row for row, entry in enumerate(vocabulary)}
        self._of_word: dict[str, list[int]] = {}

    def _word(self, word: str) -> list[int]:
        rows = self._of_word.get(word)
        if rows is None:
            rows, start = [], 0
            while start < len(word):
                for end in range(len(word), start, -1):
                    row = self._row.get(word[start:end] if start == 0 else "##" + word[start:end])
                    if row is not None:
                        break
                else:
                    raise ValueError(f"no piece for {word[start:]!r}: a single letter or digit is missing")
                rows.append(row)
                start = end
            self._of_word[word] = rows
        return rows

    def rows(self, text: str) -> list[int]:
        """The rows of all pieces: of the words in order, then of the pairs in order."""
        parts = words(text)
        found = [row for word in parts for row in self._word(word)]
        for pair in zip(parts, parts[1:]):
            row = self._row.get(f"{pair[0]} {pair[1]}")
            if row is not None:
                found.append(row)
        return found

    def pieces(self, text: str) -> list[str]:
        return [self.vocabulary[row] for row in self.rows(text)]

    def bags(self, texts: Iterable[str]) -> csr_matrix:
        """A row for each text: how often each entry occurs in it."""
        indices, ends = [], [0]
        for text in texts:
            indices += self.rows(text)
            ends.append(len(indices))
        shape = (len(ends) - 1, len(self.vocabulary))
        bag = csr_matrix((np.ones(len(indices), np.float32), np.array(indices, np.int32), np.array(ends, np.int32)), shape)
        bag.sum_duplicates()
        return bag
