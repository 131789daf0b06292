"""Plain text out of API descriptions: no markup, one line, a bounded length."""

import html
import re

# The words of identifiers, parted as `src/index/words.rs` parts the name of a tool.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_TAG = re.compile(r"<[^<>]{1,200}>")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL = re.compile(r"https?://\S+")
_MARK = re.compile(r"[`*#|>]+|\{[^}]*\}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def words_of(identifier: str) -> str:
    """`createIssue` and `create_issue` are `create issue`."""
    parts = re.split(r"[^A-Za-z0-9]+", identifier)
    return " ".join(word for part in parts if part for word in _HUMP.sub(" ", part).split()).lower()


def plain(text: object, limit: int = 60) -> str:
    """Text without markup and addresses, cut after `limit` words."""
    if not isinstance(text, str):
        return ""
    text = _TAG.sub(" ", html.unescape(text[:4000]))
    text = _MARK.sub(" ", _URL.sub(" ", _LINK.sub(r"\1", text)))
    return " ".join(text.split()[:limit])


def sentences(text: str) -> list[str]:
    """The sentences of plain text."""
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def english(text: str) -> bool:
    """Whether nearly all of it is ASCII, with two letters to start from."""
    return len(text) >= 4 and sum(map(str.isascii, text)) >= 0.97 * len(text) and any(map(str.isalpha, text))
