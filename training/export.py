"""The file of the weights: int8 with a scale for each row, entries sorted by their bytes."""

import struct
from pathlib import Path

import numpy as np

from tokenizer import Tokenizer

_MAGIC = b"PROEMEMB"
_VERSION = 1
# Everything shipped, in bytes.
MOST_BYTES = 8_000_000


def quantized(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = (np.abs(rows).max(1) / 127).astype(np.float32)
    values = np.rint(rows / np.maximum(scale, 1e-12)[:, None]).clip(-127, 127).astype(np.int8)
    return scale, values


def save(path: Path, vocabulary: list[str], rows: np.ndarray) -> int:
    """Writes the file; its size in bytes."""
    assert vocabulary == sorted(vocabulary, key=str.encode)
    scale, values = quantized(rows)
    data = _MAGIC + struct.pack("<III", _VERSION, *rows.shape)
    data += scale.astype("<f4").tobytes() + values.tobytes()
    data += b"".join(entry.encode() + b"\n" for entry in vocabulary)
    assert len(data) <= MOST_BYTES, len(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return len(data)


def load(path: Path) -> tuple[np.ndarray, Tokenizer]:
    """The table as float32, and the tokenizer over its vocabulary."""
    data = path.read_bytes()
    version, count, width = struct.unpack_from("<III", data, 8)
    assert data[:8] == _MAGIC and version == _VERSION
    at = 20 + 4 * count
    scale = np.frombuffer(data, "<f4", count, 20)
    values = np.frombuffer(data, np.int8, count * width, at).reshape(count, width)
    vocabulary = data[at + count * width :].decode().split("\n")[:-1]
    return scale[:, None] * values, Tokenizer(vocabulary)
