"""Remembers calls by their idempotency key, so that a restarted agent neither asks nor runs twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from .errors import CountersignError

try:
    import fcntl
except ImportError:  # pragma: no cover: Windows
    fcntl = None  # type: ignore[assignment]


@dataclass
class Entry:
    """What is known of the call of one key. Each member is durable before the step that it is about."""

    #: Digest of tool and arguments.
    call: str
    decision_id: str | None = None
    claiming: bool = False
    execution_id: str | None = None
    outcome: str | None = None


class KeyInUse(CountersignError):
    """Another process, or task, works under the same key right now."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the idempotency key {key!r} is in use: wait for the other call")


class Journal(Protocol):
    def load(self, key: str) -> Entry | None: ...

    def save(self, key: str, entry: Entry) -> None: ...

    def hold(self, key: str) -> object:
        """A context manager that excludes others from the key."""
        ...


class MemoryJournal:
    """Forgets with the process. The service alone then recognises a repeated question."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._held: set[str] = set()

    def load(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        return entry and Entry(**asdict(entry))

    def save(self, key: str, entry: Entry) -> None:
        self._entries[key] = Entry(**asdict(entry))

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        if key in self._held:
            raise KeyInUse(key)
        self._held.add(key)
        try:
            yield
        finally:
            self._held.discard(key)


class FileJournal:
    """One small file a key, in a folder that only its owner can read. Keep it on a disk that survives the agent."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def load(self, key: str) -> Entry | None:
        try:
            return Entry(**json.loads(self._path(key).read_bytes()))
        except FileNotFoundError:
            return None

    def save(self, key: str, entry: Entry) -> None:
        path = self._path(key)
        beside = path.with_suffix(".new")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(entry), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        self._sync_folder()

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        lock = os.open(self._path(key).with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as why:
                    raise KeyInUse(key) from why
            yield
        finally:
            os.close(lock)

    def _path(self, key: str) -> Path:
        return self._folder / f"{sha256(key.encode()).hexdigest()}.json"

    def _sync_folder(self) -> None:
        if os.name != "posix":
            return
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
