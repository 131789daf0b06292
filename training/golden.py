"""What the Rust side is held to: pieces of odd texts and first numbers of vectors."""

import json
import sys
from pathlib import Path

import numpy as np

import export
from tokenizer import words

_TEXTS = [
    "", " ", "-", "...", "a", "Z", "7", "weather", "The weather in Paris", "createIssue", "create_issue", "create-issue.v2",
    "HTTPServer", "parseHTTPServer2", "getHTTPSUrl", "XMLs", "parseURLs", "list_APIs_now", "iPhone", "aB", "AB", "ABc", "aBC",
    "OAuth2Token", "v1Beta1", "2FA", "s3Bucket", "x86_64", "1234567890", "3.14", "2023-05-17T10:00:00Z", "0xDEADBEEF",
    "user@example.com", "https://example.com/a/b?c=d&e=f", "don't stop", "it’s", "rock'n'roll", "C++ and C#", "$9.99",
    "café", "cafe\u0301", "naïve façade", "Ångström", "Straße", "ﬁnd the ﬁle", "ＡＢＣ１２３", "№ 5", "x²", "½ cup", "İstanbul", "ǅ",
    "查询天气", "查询weather天气", "東京", "서울 날씨", "สวัสดี", "Привет мир", "مرحبا", "हिन्दी", "🎉", "party🎉time", "👨‍👩‍👧", "a\u0000b", "tab\tnew\nline\r\n",
    "\u00a0no\u00a0break", "zero\u200bwidth", "supercalifragilisticexpialidocious", "antidisestablishmentarianism", "qwrtzpsdf",
    "a" * 70, "Ab" * 40, "1a" * 40, "machine learning model", "Machine-Learning", "pull request, access token", "new york new york",
    "the the the", "send an e-mail to my boss", "Retrieves the list of all open orders for the given customer.",
]
_VECTORS = [
    "weather", "create issue", "createIssue", "The current weather and forecast for any place",
    "I need to send an e-mail to my boss.", "Lists all pull requests of a repository.", "supercalifragilisticexpialidocious",
    "convert 100 dollars to euros", "café", "查询weather天气",
]


def main() -> None:
    table, tokenizer = export.load(Path(sys.argv[1]))
    folder = Path(sys.argv[2])
    # Pairs of the final vocabulary, so that it is sure that some match.
    pairs = [entry for entry in tokenizer.vocabulary if " " in entry]
    texts = _TEXTS + [", ".join(pairs[at :: len(pairs) // 3][:2]) for at in range(3)] if pairs else _TEXTS
    lines = [json.dumps({"text": text, "pieces": tokenizer.pieces(text)}, ensure_ascii=False) for text in texts]
    (folder / "embedding-tokens.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    lines = []
    for text in _VECTORS:
        vector = table[tokenizer.rows(text)].astype(np.float64).sum(0)
        vector /= np.linalg.norm(vector)
        lines.append(json.dumps({"text": text, "vector": [round(float(x), 6) for x in vector[:8]]}, ensure_ascii=False))
    (folder / "embedding-vectors.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(texts)} texts, {len(_VECTORS)} vectors, words of the longest: {max(len(words(t)) for t in texts)}")


if __name__ == "__main__":
    main()
