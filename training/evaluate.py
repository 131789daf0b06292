"""NDCG@10 of the vectors alone, of BM25, and of their sum: on the development set and on other sets."""

import json
import math
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import bm25s
import numpy as np
import Stemmer

import frames
import operations
import scenes
import wordnet
from corpus import wanted
from text import words_of

Embed = Callable[[list[str]], np.ndarray]

_STOP = set("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split())
_STEM = Stemmer.Stemmer("english")


@dataclass
class Set:
    name: str
    documents: list[str]
    queries: list[str]
    # Per query the groups of documents, any of which satisfies the group.
    gold: list[list[list[int]]]
    splits: list[str]


def development(most: int = 1500) -> list[Set]:
    """Operations of APIs that are held out; requests in frames that are held out, as written and with
    words replaced by synonyms. Documents leave out the sentence that the request was made from."""
    held = operations.held_out()
    draw = random.Random(11)
    synonyms = wordnet.synonyms()
    documents, asked = [], []
    for at, operation in enumerate(held):
        rest = operation.description if operation.summary else ""
        documents.append(f"{operation.name}: {rest}" if rest else operation.name)
        if operation.summary and len(operation.summary.split()) > 2:
            asked.append(at)
    asked = sorted(draw.sample(asked, min(most, len(asked))))
    plain = [frames.framed_held_out(wanted(held[at]), draw) for at in asked]

    def replaced(text: str) -> str:
        def other(match: re.Match[str]) -> str:
            options = synonyms.get(match[0].lower())
            return draw.choice(options) if options and draw.random() < 0.6 else match[0]

        return re.sub(r"[A-Za-z]{4,}", other, text)

    hard = [frames.framed_held_out(replaced(wanted(held[at])), draw) for at in asked]
    gold = [[[at]] for at in asked]
    splits = [""] * len(asked)
    return [Set("dev framed", documents, plain, gold, splits), Set("dev synonyms", documents, hard, gold, splits), everyday()]


def everyday() -> Set:
    """The scenes: everyday requests against all their tools, and remarks (WordNet's examples) that need
    none of them. Held out only from a model trained with `--no-scenes`, which is how methods are compared."""
    asked = list(scenes.asks())
    remarks = [example for synset in wordnet.synsets() for example in synset.examples]
    remarks = random.Random(5).sample(remarks, len(asked))
    queries = [ask for ask, _ in asked] + remarks
    gold: list[list[list[int]]] = [[[tool]] for _, tool in asked]
    gold += [[] for _ in remarks]
    return Set("dev everyday", scenes.tools(), queries, gold, ["aware_pos"] * len(asked) + ["none"] * len(remarks))


def read(folder: Path, most: int) -> Set:
    """A set of tools.jsonl and queries.jsonl; of each split at most `most` queries, evenly spaced."""
    tools = [json.loads(line) for line in (folder / "tools.jsonl").read_text("utf-8").splitlines()]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    place = {(tool["server"], tool["name"]): at for at, tool in enumerate(tools)}
    by_split: dict[str, list[dict]] = {}
    for query in queries:
        by_split.setdefault(query.get("split", ""), []).append(query)
    kept = [q for s in by_split.values() for q in (s if len(s) <= most else [s[i * len(s) // most] for i in range(most)])]
    documents = []
    for tool in tools:
        name, title = words_of(tool["name"]) or tool["name"], tool.get("title")
        parts = [part.strip() for part in (title, tool.get("description")) if part and part.strip()]
        documents.append((f"{name}: " + "\n".join(parts) if parts else name)[:2048])
    gold = [[[place[tuple(m)] for m in g] for g in q.get("gold_groups") or [[m] for m in q["gold"]]] for q in kept]
    return Set(folder.name, documents, [q["query"] for q in kept], gold, [q.get("split", "") for q in kept])


def _stems(text: str) -> list[str]:
    return [_STEM.stemWord(w) for w in words_of(text).split() if w not in _STOP]


def lexical(data: Set) -> np.ndarray:
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([_stems(text) or ["_"] for text in data.documents], show_progress=False)
    scores = np.zeros((len(data.queries), len(data.documents)), np.float32)
    for row, query in enumerate(data.queries):
        known = [word for word in _stems(query) if word in index.vocab_dict]
        if known:
            scores[row] = index.get_scores(known)
    return scores


def _ndcg(scores: np.ndarray, groups: list[list[int]]) -> float:
    top = np.lexsort((np.arange(len(scores)), -scores))[:10] if len(scores) <= 10 else _top(scores)
    rank = {int(document): at for at, document in enumerate(top)}
    hits = {min((rank[m] for m in group if m in rank), default=10) for group in groups} - {10}
    best = sum(1 / math.log2(at + 2) for at in range(min(10, len(groups))))
    return sum(1 / math.log2(at + 2) for at in hits) / best


def _top(scores: np.ndarray) -> np.ndarray:
    part = np.argpartition(-scores, 9)[:10]
    return part[np.lexsort((part, -scores[part]))]


def _spread(scores: np.ndarray) -> np.ndarray:
    low, high = scores.min(1, keepdims=True), scores.max(1, keepdims=True)
    return (scores - low) / np.maximum(high - low, 1e-9)


def auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    order = np.concatenate([positive, negative]).argsort().argsort()
    return float((order[: len(positive)].sum() - len(positive) * (len(positive) - 1) / 2) / (len(positive) * len(negative)))


def figures(data: Set, embed: Embed, words: np.ndarray, weights: tuple[float, ...] = (0.3, 0.5)) -> dict[str, float]:
    dense = embed(data.queries) @ embed(data.documents).T
    asked = [at for at, groups in enumerate(data.gold) if groups]
    runs = {"dense": dense, "words": words}
    runs |= {f"+{w}": w * _spread(dense) + (1 - w) * _spread(words) for w in weights}
    found = {name: 100 * float(np.mean([_ndcg(run[at], data.gold[at]) for at in asked])) for name, run in runs.items()}
    best, splits = dense.max(1), np.array(data.splits)
    if (splits == "none").any():
        found["auroc"] = auroc(best[splits == "aware_pos"], best[splits == "none"])
    return found


def report(sets: list[Set], embed: Embed) -> None:
    for data in sets:
        row = figures(data, embed, lexical(data), (0.3, 0.5, 0.7))
        print(f"{data.name:16}" + " ".join(f"{name} {value:.3f}" if name == "auroc" else f"{name} {value:5.1f}" for name, value in row.items()), flush=True)


if __name__ == "__main__":
    import export

    table, tokenizer = export.load(Path(sys.argv[1]))
    from model import unit

    def embed(texts: list[str]) -> np.ndarray:
        return unit(tokenizer.bags(texts) @ table)

    folders = [Path(folder) for folder in sys.argv[2:]]
    report(development() + [read(folder, 1000) for folder in folders], embed)
