"""What was handed in, as files: folders and archives alike, never followed out of the folder nor unpacked to disk."""

from __future__ import annotations

import io
import os
import tokenize
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from llm_gen.text import _

LARGEST_FILE = 20_000_000
LARGEST_SUBMISSION = 100_000_000
MOST_FILES = 500
SKIPPED = {"__pycache__", "__MACOSX", "node_modules", "site-packages"}
PARTS_OF_THE_COURSE = {"llm_gen", "solutions", "panels", "grader", "vocabulary", "tests"}  # hold nobody's answers
KINDS = (".ipynb", ".py")
EDITION = "edition.json"  # which edition of the course a folder is


class Unusable(ValueError):
    """A file that cannot be read; the message says why, for the row of its student."""


@dataclass(frozen=True)
class Source:
    """One file: its path inside the submission, with `/`, and how to read it."""

    path: str
    size: int
    read: Callable[[], bytes]

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def kind(self) -> str:
        """Its ending in small letters, such as ".ipynb"."""
        return PurePosixPath(self.path).suffix.lower()

    def text(self) -> str:
        """The file as text. Raises Unusable."""
        if self.size > LARGEST_FILE:
            words = _("{path}: {size:,} bytes, more than {most:,}")
            raise Unusable(words.format(path=self.path, size=self.size, most=LARGEST_FILE))
        try:
            data, encoding = self.read(), "utf-8-sig"
            if self.kind == ".py":
                encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
            return data.decode(encoding)
        except (UnicodeDecodeError, SyntaxError, LookupError):
            raise Unusable(_("{path}: its text is not in UTF-8").format(path=self.path)) from None
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            raise Unusable(f"{self.path}: {error}") from None


def files_of(path: Path) -> Iterator[Source | Unusable]:
    """The notebooks and programs in a file, a folder or a zip, zips within included; what cannot be read as Unusable.
    The course's own programs, which came with an edition, are left out."""
    count, total = 0, 0
    for found in _walk(path, path.name if path.is_file() else ""):
        if isinstance(found, Source):
            count, total = count + 1, total + min(found.size, LARGEST_FILE)
        if count > MOST_FILES or total > LARGEST_SUBMISSION:
            words = _("more than {files} files or {bytes:,} bytes: the rest was not read")
            yield Unusable(words.format(files=MOST_FILES, bytes=LARGEST_SUBMISSION))
            return
        yield found


def is_skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED


def _is_wanted(path: PurePosixPath) -> bool:
    if any(map(is_skipped, path.parts)) or PARTS_OF_THE_COURSE & set(path.parts[:-1]):
        return False
    return path.suffix.lower() in KINDS or path.name == EDITION


def _walk(path: Path, inside: str) -> Iterator[Source | Unusable]:
    if path.is_symlink():
        yield Unusable(_("{path}: a link, which is not followed").format(path=inside or path.name))
    elif path.is_dir():
        for name in sorted(os.listdir(path)):
            if not is_skipped(name):
                yield from _walk(path / name, f"{inside}/{name}" if inside else name)
    elif path.suffix.lower() == ".zip":
        yield from _unzip(path, inside)
    elif path.is_file() and _is_wanted(PurePosixPath(inside)):
        yield Source(inside, path.stat().st_size, path.read_bytes)


def _unzip(file: Path | io.BytesIO, inside: str) -> Iterator[Source | Unusable]:
    try:
        archive = zipfile.ZipFile(file)
    except (OSError, zipfile.BadZipFile) as error:
        yield Unusable(f"{inside}: {error}")
        return
    for info in sorted(archive.infolist(), key=lambda info: info.filename)[: 10 * MOST_FILES]:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if not info.is_dir() and _is_wanted(path):
            yield Source(f"{inside}/{path}", info.file_size, lambda info=info: _read_entry(archive, info))


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """One file of an archive, never more than it says it has."""
    with archive.open(info) as file:
        return file.read(min(info.file_size, LARGEST_FILE) + 1)
