"""Canonical JSON (RFC 8785): the bytes that are hashed and signed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

#: Beyond it an integer would change silently when it is read as an IEEE double.
LARGEST_INTEGER = 2**53 - 1


class NotCanonical(ValueError):
    """The value has no canonical form, so nobody can approve exactly it."""


def canonical(value: Any) -> bytes:
    """The canonical bytes of a JSON value."""
    parts: list[str] = []
    _write(value, parts, "value")
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as why:
        raise NotCanonical("a text contains half of a surrogate pair") from why


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, in hex."""
    return sha256(canonical(value)).hexdigest()


def _write(value: Any, parts: list[str], place: str) -> None:
    if value is None or isinstance(value, (bool, str)):
        parts.append(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, int):
        parts.append(_integer(int(value), place))
    elif isinstance(value, float):
        parts.append(_number(float(value), place))
    elif isinstance(value, Mapping):
        _write_object(value, parts, place)
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            parts.append("," if at else "[")
            _write(item, parts, f"{place}[{at}]")
        parts.append("]" if value else "[]")
    else:
        raise NotCanonical(f"{place} is of type {type(value).__name__}: pass text, numbers, lists and dicts")


def _write_object(value: Mapping[Any, Any], parts: list[str], place: str) -> None:
    for name in value:
        if not isinstance(name, str):
            raise NotCanonical(f"{place} has the name {name!r}: names are text")
    opening = "{"
    # The order of UTF-16 units differs from that of code points beyond the basic plane.
    for name in sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass")):
        parts.append(opening + json.dumps(name, ensure_ascii=False) + ":")
        _write(value[name], parts, f"{place}.{name}")
        opening = ","
    parts.append("}" if value else "{}")


def _integer(value: int, place: str) -> str:
    if abs(value) > LARGEST_INTEGER:
        raise NotCanonical(f"{place}: the integer {value} is beyond 2^53 - 1: pass it as text")
    return str(value)


def _number(value: float, place: str) -> str:
    """A double as ECMAScript writes it."""
    if not math.isfinite(value):
        raise NotCanonical(f"{place} is {value}, which JSON cannot express")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    return sign + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """The digits with the decimal point after `point` of them."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"
