"""The student: a table with a row for each entry of the vocabulary; a text is the sum of its rows."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def softmax(scores: np.ndarray) -> np.ndarray:
    scores = np.exp(scores - scores.max(1, keepdims=True))
    scores /= scores.sum(1, keepdims=True)
    return scores


@dataclass
class Batch:
    """Pairs of texts: bags of the left and right ones, and their teacher vectors (unit, 384)."""

    left: csr_matrix
    right: csr_matrix
    left_taught: np.ndarray
    right_taught: np.ndarray
    # How far a pair is one because it is given (1) or only because the teacher sees it so (0).
    given: np.ndarray


@dataclass(frozen=True)
class Losses:
    """Shares of the two losses, both means over the batch, and the temperatures of student and teacher."""

    contrast: float = 1.0
    regression: float = 2.0
    temperature: float = 0.15
    taught_temperature: float = 0.15


class Table:
    """Row-wise lazy Adam: rows that a batch does not touch cost nothing."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows.astype(np.float32)
        self._first = np.zeros_like(self.rows)
        self._second = np.zeros(len(rows), np.float32)
        self._steps = np.zeros(len(rows), np.int32)

    def embed(self, bags: csr_matrix) -> np.ndarray:
        return unit(bags @ self.rows)

    def update(self, touched: np.ndarray, gradient: np.ndarray, rate: np.ndarray) -> None:
        """One second moment for a whole row, so that its direction is kept."""
        self._steps[touched] += 1
        age = self._steps[touched]
        first = 0.9 * self._first[touched] + 0.1 * gradient
        second = 0.99 * self._second[touched] + 0.01 * np.einsum("ij,ij->i", gradient, gradient) / gradient.shape[1]
        self._first[touched], self._second[touched] = first, second
        scale = rate / (1 - 0.9**age) / (np.sqrt(second / (1 - 0.99**age)) + 1e-8)
        self.rows[touched] -= scale[:, None].astype(np.float32) * first


def _through_norm(gradient: np.ndarray, out: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """The gradient of a vector from that of the vector brought to length 1."""
    return (gradient - out * np.einsum("ij,ij->i", gradient, out)[:, None]) / norm


def step(table: Table, batch: Batch, projection: np.ndarray, losses: Losses, rate: float, floor: float) -> None:
    """One batch: in-batch ranking against given and taught matches, and regression to the teacher."""
    n = batch.left.shape[0]
    both = _stacked(batch.left, batch.right)
    touched, compact = np.unique(both.indices, return_inverse=True)
    both = csr_matrix((both.data, compact.astype(np.int32), both.indptr), (2 * n, len(touched)))
    summed = both @ table.rows[touched]
    norm = np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-6)
    out = summed / norm
    left, right = out[:n], out[n:]

    scores = left @ right.T / losses.temperature
    taught = batch.left_taught @ batch.right_taught.T / losses.taught_temperature
    given = batch.given[:, None]
    eye = np.arange(n)
    wanted = softmax(taught) * (1 - given)
    wanted[eye, eye] += batch.given
    back = softmax(taught.T) * (1 - given)
    back[eye, eye] += batch.given
    over, under = softmax(scores), softmax(scores.T)
    slope = (over - wanted + (under - back).T) * (losses.contrast / (2 * losses.temperature * n))
    gradient = np.concatenate([slope @ right, slope.T @ left])
    # Regression: the mean of 1 - cosine to the teacher's vector in the student's dimensions.
    aim = unit(np.concatenate([batch.left_taught, batch.right_taught]) @ projection)
    gradient -= aim * (losses.regression / (2 * n))

    gradient = both.T @ _through_norm(gradient, out, norm)
    size = np.linalg.norm(table.rows[touched], axis=1)
    # A step is a share of the row's own length: rare words and fillers both learn at their scale.
    table.update(touched, gradient, rate * np.maximum(size, floor))


def _stacked(a: csr_matrix, b: csr_matrix) -> csr_matrix:
    return csr_matrix(
        (np.concatenate([a.data, b.data]), np.concatenate([a.indices, b.indices]),
         np.concatenate([a.indptr, b.indptr[1:] + a.indptr[-1]])),
        (a.shape[0] + b.shape[0], a.shape[1]),
    )
