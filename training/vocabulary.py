"""Which words and pairs of words have a row."""

import math
from collections import Counter

from teacher import model_folder
from tokenizer import words

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def base() -> list[str]:
    """The teacher's own WordPieces that our tokenizer can make: ASCII letters and digits."""
    entries = (model_folder() / "vocab.txt").read_text("utf-8").split("\n")
    return [e for e in entries if e.isascii() and e.removeprefix("##").isalnum() and e == e.lower()]


def build(texts: list[str], size: int, pairs: int) -> list[str]:
    """`size` entries in byte order: base entries seen in the texts before those not seen, frequent
    words that lack a row of their own, and the `pairs` pairs that say the most beyond their words."""
    unigram: Counter[str] = Counter()
    bigram: Counter[tuple[str, str]] = Counter()
    for text in texts:
        parts = words(text)
        unigram.update(parts)
        bigram.update(zip(parts, parts[1:]))
    total = sum(unigram.values())

    def gain(pair: tuple[str, str]) -> float:
        return bigram[pair] * math.log(bigram[pair] * total / (unigram[pair[0]] * unigram[pair[1]]))

    kept = {form for letter in _LETTERS for form in (letter, "##" + letter)}
    common = [p for p, n in bigram.items() if n >= 20 and all(len(w) > 2 and not w.isdigit() for w in p)]
    kept |= {" ".join(pair) for pair in sorted(common, key=lambda p: (-gain(p), p))[:pairs]}
    known = set(base())
    # Suffix pieces stay: they carry the words that nobody foresaw. Digits beyond two say nothing.
    pieces = [e for e in known if e.startswith("##")]
    whole = [e for e in known if not e.startswith("##") and not (e.isdigit() and len(e) > 2)]
    fresh = [w for w, n in unigram.items() if w not in known and n >= 8 and len(w) > 2 and not any(map(str.isdigit, w))]
    ranked = sorted(pieces, key=lambda e: (len(e), e)) + sorted(whole + fresh, key=lambda w: (-unigram[w], w))
    for entry in ranked:
        if len(kept) >= size:
            break
        kept.add(entry)
    return sorted(kept, key=str.encode)
