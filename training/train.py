"""Trains the table and writes the file: `train.py OUT [--dimensions N ...]`."""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

import corpus
import evaluate
import export
import vocabulary
from corpus import Pair
from model import Batch, Losses, Table, step, unit
from teacher import Teacher
from tokenizer import Tokenizer

# Pairs of one group that stay together in a batch.
_BLOCK = 16


def projection(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """The directions of the teacher's space in which its vectors are longest. Not centred: cosines stay."""
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    return directions[:, np.argsort(-values)[:dimensions]].astype(np.float32)


def initial(tokenizer: Tokenizer, bags: csr_matrix, teacher: Teacher, down: np.ndarray) -> np.ndarray:
    """Each entry's own teacher vector, less of it for frequent entries (SIF); pairs start at zero."""
    counts = np.asarray(bags.sum(0)).ravel()
    rows = np.zeros((len(counts), down.shape[1]), np.float32)
    single = [at for at, entry in enumerate(tokenizer.vocabulary) if " " not in entry]
    rows[single] = unit(teacher.embed([tokenizer.vocabulary[at].removeprefix("##") for at in single]) @ down)
    return rows * (1e-3 / (1e-3 + counts / counts.sum()))[:, None].astype(np.float32)


def batches(pairs: list[Pair], size: int, draw: np.random.Generator):
    """Batches of blocks of pairs from one group, without end."""
    by_group: dict[str, list[int]] = {}
    for at, pair in enumerate(pairs):
        by_group.setdefault(pair.group, []).append(at)
    while True:
        line = np.concatenate([draw.permutation(by_group[group]) for group in sorted(by_group)])
        blocks = np.array_split(line, len(line) // _BLOCK)
        order = draw.permutation(len(blocks))
        line = np.concatenate([blocks[at] for at in order])
        for start in range(0, len(line) - size + 1, size):
            yield line[start : start + size]


@dataclass
class Prepared:
    """Every text once, and of every pair the places of its texts and of what they are taught as."""

    texts: list[str]
    left: np.ndarray
    right: np.ndarray
    # Teacher vectors, and which of them a side of a pair has.
    taught: np.ndarray
    left_as: np.ndarray
    right_as: np.ndarray


def prepared(pairs: list[Pair], teacher: Teacher) -> Prepared:
    texts: dict[str, int] = {}
    taught: dict[str, int] = {}
    left = np.array([texts.setdefault(pair.left, len(texts)) for pair in pairs])
    right = np.array([texts.setdefault(pair.right, len(texts)) for pair in pairs])
    left_as = np.array([taught.setdefault(pair.left_as, len(taught)) for pair in pairs])
    right_as = np.array([taught.setdefault(pair.right_as, len(taught)) for pair in pairs])
    return Prepared(list(texts), left, right, teacher.embed(list(taught)).astype(np.float16), left_as, right_as)


def train(pairs: list[Pair], options: argparse.Namespace, sets: list[evaluate.Set], teacher: Teacher) -> tuple[list[str], np.ndarray]:
    draw = np.random.default_rng(options.seed)
    data = prepared(pairs, teacher)
    texts, taught = data.texts, data.taught
    given = np.array([pair.given for pair in pairs], np.float32) * options.given
    tokenizer = Tokenizer(vocabulary.build(texts, options.size, options.pairs))
    bags = tokenizer.bags(texts)
    print(f"{len(pairs)} pairs of {len(texts)} texts, {bags.nnz} pieces, {len(tokenizer.vocabulary)} entries", flush=True)
    down = projection(taught[draw.choice(len(taught), min(len(taught), 60_000), replace=False)].astype(np.float32), options.dimensions)
    table = Table(initial(tokenizer, bags, teacher, down))
    losses = Losses(options.contrast, options.regression, options.temperature, options.taught_temperature)
    lexical = [evaluate.lexical(data) for data in sets]

    def embed(queries: list[str]) -> np.ndarray:
        return table.embed(tokenizer.bags(queries))

    def show(at: int) -> None:
        parts = []
        for asked, words in zip(sets, lexical):
            row = evaluate.figures(asked, embed, words, (0.3, 0.5))
            parts.append(asked.name + " " + " ".join(f"{k} {v:.3f}" if k == "auroc" else f"{k} {v:.1f}" for k, v in row.items()))
        print(f"step {at} {time.time() - began:.0f} s | " + " | ".join(parts), flush=True)

    began = time.time()
    show(0)
    stream = batches(pairs, options.batch, draw)
    for at in range(1, options.steps + 1):
        index = next(stream)
        a, b = taught[data.left_as[index]], taught[data.right_as[index]]
        batch = Batch(
            bags[data.left[index]], bags[data.right[index]], a.astype(np.float32), b.astype(np.float32), given[index]
        )
        # Warm up, then down to nothing along a line.
        rate = options.rate * min(1, at / 100) * (1 - at / (options.steps + 1))
        step(table, batch, down, losses, rate, options.floor)
        if at % options.every == 0 or at == options.steps:
            show(at)
    return tokenizer.vocabulary, table.rows


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("out", type=Path)
    add("--dimensions", type=int, default=256)
    add("--size", type=int, default=29_000, help="entries of the vocabulary")
    add("--pairs", type=int, default=0, help="entries that are pairs of words")
    add("--steps", type=int, default=4_000)
    add("--batch", type=int, default=512)
    add("--rate", type=float, default=0.006)
    add("--floor", type=float, default=0.05, help="least length of a row that its steps are measured by")
    add("--given", type=float, default=1.0, help="scales how far pairs count as given")
    add("--contrast", type=float, default=1.0)
    add("--regression", type=float, default=2.0)
    add("--temperature", type=float, default=0.15)
    add("--taught-temperature", type=float, default=0.15)
    add("--seed", type=int, default=1)
    add("--every", type=int, default=2_000)
    add("--no-scenes", action="store_true", help="leaves the scenes out, so that they can be measured on")
    return parser.parse_args(arguments)


def main() -> None:
    given = options()
    teacher = Teacher()
    entries, rows = train(corpus.pairs(everyday=not given.no_scenes), given, evaluate.development(), teacher)
    print(f"{export.save(given.out, entries, rows)} bytes in {given.out}")


if __name__ == "__main__":
    main()
