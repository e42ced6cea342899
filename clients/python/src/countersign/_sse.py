"""Incremental parser for server-sent events. Pure: bytes in, messages out."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The largest message: the protocol's largest event twice over.
MAX_MESSAGE = 2 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\n|\r")


class TooLarge(ValueError):
    pass


@dataclass(frozen=True)
class Message:
    event: str
    data: str
    id: str | None


class Decoder:
    """Line ends are LF, CR or both, across any packet boundary."""

    def __init__(self) -> None:
        self._rest = b""
        self._event, self._data, self._id = "", [], None  # type: tuple[str, list[str], str | None]

    def push(self, data: bytes) -> list[Message]:
        self._rest += data
        if len(self._rest) + sum(map(len, self._data)) > MAX_MESSAGE:
            raise TooLarge(f"the stream holds a message of over {MAX_MESSAGE} bytes")
        found, at = [], 0
        while end := _LINE_END.search(self._rest, at):
            if end.group() == b"\r" and end.end() == len(self._rest):
                break  # The second half of this line end may follow.
            message = self._line(self._rest[at : end.start()].decode("utf-8", "replace"))
            at = end.end()
            if message is not None:
                found.append(message)
        self._rest = self._rest[at:]
        return found

    def _line(self, line: str) -> Message | None:
        if not line:
            event, data = self._event or "message", self._data
            self._event, self._data = "", []
            return Message(event, "\n".join(data), self._id) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None
