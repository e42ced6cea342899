#!/usr/bin/env python3
"""A second judge of clarification documents, with Python's standard library alone.

    verify_clarification.py [--keys FILE] FILE    one document: exit 0 and a verdict "ok", or exit 1 and the error
    verify_clarification.py --serve               a question a line, an answer a line, until the input ends

FILE is a message, a record, an audit bundle, an attestation or a handoff. The keys are a document of published keys;
without them a verdict says no more than "integrity only" (W-19). A question of --serve is {"id", "keys"?, "document"}
with the document as text, or as "document_base64" where its bytes may not be text.
The first error is named by its place, like chain[2].answer_signature.
"""

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys
from datetime import datetime, timezone
from functools import lru_cache
from json.encoder import encode_basestring

MAX_GAPS, MAX_STRING, MAX_CHAIN = 64, 16_384, 10_000  # W-32
MAX_DEPTH = 128
MAX_INTEGER = 2**53  # W-22
GRACE = 24 * 3600 * 10**9  # W-20, in nanoseconds
SCHEMA = "https://workswithagents.dev/specs/clarification-protocol.json"
PROTOCOL = b"wwa-clarification/1.0.0 "


class Wrong(Exception):
    """The first error, and its place."""

    def __init__(self, place, why):
        super().__init__(f"{place}: {why}")
        self.place, self.why = place, why


def demand(holds, place, why):
    if not holds:
        raise Wrong(place, why)


# ---- The verdict -----------------------------------------------------------------------------------------------------


def judge(document, keys=None):
    """The verdict on the bytes of a document, with the bytes of the published keys or none."""
    try:
        registry = None if keys is None else Registry(parse(keys, "keys"))
        signed_by = "known key" if registry else "integrity only"
        return {"verdict": "ok", "signed_by": signed_by, **examine(document, registry)}
    except Wrong as wrong:
        return {"verdict": "wrong", "place": wrong.place, "why": wrong.why}


def examine(raw, registry):
    document = parse(raw, "document")
    demand(isinstance(document, dict), "document", "is no object")
    kind = next((kind for member, kind in KINDS.items() if member in document), None)
    demand(kind, "document", "is no message, record, audit bundle, attestation or handoff")
    bounded(document, "")
    return {"kind": kind.__name__, **kind(document, "", registry)}


# ---- JSON, strictly (W-22) -------------------------------------------------------------------------------------------


def parse(raw, name):
    """I-JSON: no duplicate member, no lone surrogate, no NaN, no integer that a double cannot hold."""
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        value = json.loads(
            text,
            object_pairs_hook=without_duplicates,
            parse_int=exact_integer,
            parse_float=finite,
            parse_constant=no_number,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except RecursionError:
        raise Wrong(name, "is nested too deeply") from None
    except UnicodeError:
        raise Wrong(name, "is not Unicode text: bad UTF-8 or a lone surrogate") from None
    except ValueError as error:
        raise Wrong(name, f"is no I-JSON: {error}") from None


def without_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is given twice")
    return members


def exact_integer(text):
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise ValueError("an integer is beyond 2^53")
    return int(text)


def finite(text):
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is beyond what a double can hold")
    return number


def no_number(text):
    raise ValueError(f"{text} is no number")


def bounded(value, place, depth=1):
    """W-32, for every text in the document. A character is a Unicode scalar value."""
    if isinstance(value, str):
        demand(len(value) <= MAX_STRING, place, f"is longer than {MAX_STRING} characters")
    elif isinstance(value, (dict, list)):
        demand(depth <= MAX_DEPTH, place, "is nested too deeply")
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str):
                demand(len(name) <= MAX_STRING, place, f"has a name longer than {MAX_STRING} characters")
            bounded(inner, at(place, name), depth + 1)


def at(place, name):
    if isinstance(name, int):
        return f"{place}[{name}]"
    return f"{place}.{name}" if place else name


# ---- RFC 8785 --------------------------------------------------------------------------------------------------------


def canonical(value):
    """The canonical form of a JSON value, as UTF-8."""
    return canonical_text(value).encode("utf-8")


def canonical_text(value):
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{encode_basestring(name)}:{canonical_text(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    if isinstance(value, float):
        return ecmascript_number(value)
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def ecmascript_number(number):
    """Number::toString of ECMAScript. Python's repr has the same shortest digits with another position of the point."""
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return ("-" if number < 0 else "") + with_point(digits, point)


def with_point(digits, point):
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    power = point - 1
    return digits[0] + ("." + digits[1:] if count > 1 else "") + ("e+" if power > 0 else "e-") + str(abs(power))


# ---- Ed25519, strictly (RFC 8032, W-23) ------------------------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z


def strictly_signed(key, signature, data):
    """Without cofactor. S is below L; A and R are canonical and not of small order."""
    if len(key) != 32 or len(signature) != 64:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    minus_a = minus_times(key)
    if s >= L or r in SMALL_ORDER or minus_a is None:
        return False
    k = int.from_bytes(hashlib.sha512(r + key + data).digest(), "little") % L
    # A non-canonical encoding of R differs from every output of encode().
    return encode(minus_a(k, base().times(s))) == r


@lru_cache(maxsize=64)
def minus_times(key):
    """The function (k, Q) → Q - [k]A of a key A. A frequently used key gets a table."""
    point = decode(key)
    if point is None or key in SMALL_ORDER:
        return None
    minus = (P - point[0], point[1], point[2], P - point[3])
    used, table = 0, None

    def times(scalar, onto):
        nonlocal used, table
        used += 1
        if used < 6:
            return add(onto, addend(product(minus, scalar)))
        table = table or Multiples(minus, 4)
        return table.times(scalar, onto)

    return times


def product(point, scalar):
    small = [addend(IDENTITY), addend(point)]
    for _ in range(14):
        point = add(point, small[1])
        small.append(addend(point))
    result = IDENTITY
    for digit in f"{scalar:x}":
        result = add(double(double(double(double(result)))), small[int(digit, 16)])
    return result


@lru_cache(maxsize=1)
def base():
    return Multiples(decode((4 * pow(5, -1, P) % P).to_bytes(32, "little")), 8)


class Multiples:
    """A point's multiples by digit: a product is then a sum of one table entry a digit, without doublings."""

    def __init__(self, point, bits):
        self.bits, self.rows = bits, []
        for _ in range(0, 256, bits):
            row, multiple = [None], point
            for _ in range(1, 1 << bits):
                row.append(addend(multiple))
                multiple = add(multiple, row[1])
            self.rows.append(row)
            point = multiple

    def times(self, scalar, onto=IDENTITY):
        mask = (1 << self.bits) - 1
        for row in self.rows:
            if scalar & mask:
                onto = add(onto, row[scalar & mask])
            scalar >>= self.bits
        return onto


def addend(point):
    x, y, z, t = point
    return (y - x) % P, (y + x) % P, 2 * D * t % P, 2 * z % P


def add(point, other):
    """The complete addition of RFC 8032 5.1.4; the second operand comes prepared by addend()."""
    x, y, z, t = point
    y_minus_x, y_plus_x, t2d, z2 = other
    a, b, c, d = (y - x) * y_minus_x % P, (y + x) * y_plus_x % P, t * t2d % P, z * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def double(point):
    x, y, z, _ = point
    a, b = x * x % P, y * y % P
    h, g = a + b, a - b
    e, f = h - (x + y) ** 2 % P, 2 * z * z % P + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def encode(point):
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


def decode(data):
    """The point, or None for an invalid or non-canonical encoding."""
    number = int.from_bytes(data, "little")
    y, odd = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7 % P, (P - 5) // 8, P) % P
    if v * x * x % P == P - u:
        x = x * SQRT_MINUS_1 % P
    if (v * x * x - u) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


def small_order():
    """The eight points that the cofactor maps to the identity: multiples of one of order eight."""
    point, found = IDENTITY, set()
    generator = addend(decode(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")))
    for _ in range(8):
        found.add(encode(point))
        point = add(point, generator)
    return frozenset(found)


SMALL_ORDER = small_order()


# ---- Signed bytes (W-02, W-08) ---------------------------------------------------------------------------------------


def signing_input(kind, body):
    return PROTOCOL + kind.encode("ascii") + b"\0" + canonical(body)


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def genesis(session_id, plan_digest):
    return digest(PROTOCOL + b"genesis\0" + (session_id + plan_digest).encode("ascii"))


def entry_hash(entry):
    return digest(PROTOCOL + b"entry\0" + canonical(without(entry, "entry_hash")))


def without(document, *members):
    return {name: value for name, value in document.items() if name not in members}


def verify(kind, body, key, signature, place):
    """The signature covers the literal texts; only the key and the signature are decoded."""
    signed = strictly_signed(unspelled(key, 32), unspelled(signature, 64), signing_input(kind, body))
    demand(signed, place, f"is not the signature of this {kind} by this key")


@lru_cache(maxsize=256)
def unspelled(text, size):
    """The bytes of a key or a signature in any encoding of W-01, or None."""
    if not text.startswith("ed25519:"):
        return None
    text = text[len("ed25519:") :]
    if re.fullmatch(f"[0-9a-f]{{{2 * size}}}", text):
        return bytes.fromhex(text)
    for altchars in (b"+/", b"-_"):
        data = from_base64(text, altchars)
        # Unused bits must be zero, so that each value has one encoding.
        if data is not None and len(data) == size:
            again = base64.b64encode(data, altchars).decode("ascii")
            return data if text in (again, again.rstrip("=")) else None
    return None


def from_base64(text, altchars):
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars, validate=True)
    except (binascii.Error, ValueError):
        return None


@lru_cache(maxsize=256)
def instant(text):
    """Nanoseconds since 1970 of an RFC 3339 time that ends in Z (W-21), or None."""
    match = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z", text)
    try:
        moment = datetime.fromisoformat(match[1]).replace(tzinfo=timezone.utc)
    except (TypeError, ValueError):
        return None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // (datetime.resolution * 10**6)
    return seconds * 10**9 + int((match[2] or "").ljust(9, "0"))


# ---- Shapes ----------------------------------------------------------------------------------------------------------
# A shape is a function of a value and its place. Documents are closed: no unsigned member can be added.


def shaped(required, optional=None, closed=True):
    optional = optional or {}

    def shape(value, place):
        demand(isinstance(value, dict), place or "document", "is no object")
        for name, inner in required.items():
            demand(name in value, at(place, name), "is missing")
            inner(value[name], at(place, name))
        for name in value:
            known = name in required or name in optional
            demand(known or not closed, at(place, name), "is no member of this document")
            if name in optional:
                optional[name](value[name], at(place, name))

    return shape


def that(holds, why):
    return lambda value, place: demand(holds(value), place, why)


def literal(*texts):
    return that(lambda value: isinstance(value, str) and value in texts, f"is not {' or '.join(texts)}")


def matching(pattern, why):
    compiled = re.compile(pattern)
    return that(lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None, why)


def list_of(shape, most, why):
    def listed(value, place):
        demand(isinstance(value, list), place, "is no list")
        demand(most is None or len(value) <= most, place, why)
        for index, inner in enumerate(value):
            shape(inner, at(place, index))

    return listed


text = that(lambda value: isinstance(value, str), "is no text")
filled = that(lambda value: isinstance(value, str) and value.strip() != "", "is no text, or blank")
flag = that(lambda value: isinstance(value, bool), "is neither true nor false")
count = that(lambda value: type(value) is int and value >= 0, "is no count")
members = that(lambda value: isinstance(value, dict), "is no object")
public_key = that(lambda value: isinstance(value, str) and unspelled(value, 32) is not None, "is no Ed25519 key")
signature = that(lambda value: isinstance(value, str) and unspelled(value, 64) is not None, "is no Ed25519 signature")
time = that(lambda value: isinstance(value, str) and instant(value) is not None, "is no RFC 3339 time that ends in Z")
sha256 = matching("sha256:[0-9a-f]{64}", "is no SHA-256 digest")
uuid = matching("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "is no UUID version 4")

GAP = shaped(
    {
        "id": matching("gap-(?!000)([0-9]{3}|[1-9][0-9]{3,})", "is no number of a gap"),
        "field": filled,
        "severity": literal("BLOCK", "WARN"),
        "question": filled,
        "context": text,
        "suggestions": list_of(text, None, ""),
        "blocked_operations": list_of(literal("planner", "developer", "build", "attest"), None, ""),
    },
    {"pointer": matching("(/([^~/]|~[01])*)+", "is no JSON Pointer to a member")},
    closed=False,  # signed as a whole, wherever it stands
)
AGENT = {"session_id": uuid, "agent_id": filled, "agent_public_key": public_key}
MESSAGE = shaped(
    {
        **AGENT,
        "$schema": literal(SCHEMA),
        "protocol_version": literal("1.0.0"),
        "timestamp": time,
        "status": literal("needs_clarification", "ready_to_proceed"),
        "gaps": list_of(GAP, MAX_GAPS, f"has more than {MAX_GAPS} gaps"),
        "accepted_gaps": count,
        "blocking_gaps": count,
        "warning_gaps": count,
        "signature": signature,
    }
)
ROUND = shaped(
    {
        "round": count,
        "ask_timestamp": time,
        "ask_signature": signature,
        "gap": GAP,
        "answer_timestamp": time,
        "answer": text,
        "answered_by": shaped({"agent_id": filled, "public_key": public_key, "attested": flag}),
        "answer_signature": signature,
        "resolved": flag,
        "prev": sha256,
        "entry_hash": sha256,
    },
    {
        "plan_digest": sha256,
        "agent_public_key": public_key,
        "given_by": literal("own", "person"),
        "decision_id": filled,
    },
)
ROTATION = shaped(
    {
        "agent_id": filled,
        "old_public_key": public_key,
        "new_public_key": public_key,
        "rotated_at": time,
        "signature": signature,
    }
)
EVENTS = {
    "key_rotated": shaped(
        {"event": text, "timestamp": time, "rotation": ROTATION, "prev": sha256, "entry_hash": sha256}
    ),
    "plan_changed": shaped(
        {
            "event": text,
            "timestamp": time,
            "plan_digest": sha256,
            "agent_public_key": public_key,
            "signature": signature,
            "prev": sha256,
            "entry_hash": sha256,
        }
    ),
    "abandoned": shaped(
        {
            "event": text,
            "timestamp": time,
            "abandoned_by": literal("own", "person"),
            "unanswered": list_of(text, None, ""),
            "plan_digest": sha256,
            "agent_public_key": public_key,
            "signature": signature,
            "prev": sha256,
            "entry_hash": sha256,
        }
    ),
}


def ENTRY(entry, place):
    demand(isinstance(entry, dict), place, "is no object")
    event = entry.get("event")
    if "event" in entry:
        literal(*EVENTS)(event, at(place, "event"))
    EVENTS.get(event, ROUND)(entry, place)


RECORD = shaped(
    {
        **AGENT,
        "chain": list_of(ENTRY, MAX_CHAIN, f"has more than {MAX_CHAIN} entries"),
        "total_rounds": count,
        "all_resolved": flag,
        "plan_digest": sha256,
        "signed_at": time,
        "chain_signature": signature,
    }
)
ATTESTATION = shaped(
    {
        **AGENT,
        "attestation_version": literal("1.0.0"),
        "issued_at": time,
        "plan_digest": sha256,
        "inputs": shaped({"clarification_rounds": count, "clarification_chain_ref": sha256}),
        "clarification": shaped({"rounds": count, "head": sha256, "chain_signature": signature}),
        "signature": signature,
    }
)
HANDOFF = shaped(
    {
        **AGENT,
        "handoff_version": literal("1.0.0"),
        "created_at": time,
        "context": shaped({"clarification": members}),
        "signature": signature,
    },
    {"plan": members},
)
AUDIT = shaped(
    {
        "clarification_chain": list_of(members, MAX_CHAIN, f"has more than {MAX_CHAIN} rounds"),
        "record": members,
        "message": members,
        "submitted_plans": list_of(
            shaped({"plan_digest": sha256, "plan_object": members}), None, ""
        ),
    },
    {"accepted_plan": members, "attestation": members},
)
PUBLISHED_KEYS = shaped(
    {
        "agent_id": filled,
        "keys": list_of(shaped({"public_key": public_key, "created_at": time}, {"retired_at": time}), None, ""),
        "rotations": list_of(ROTATION, None, ""),
    }
)


# ---- Key owners (W-19, W-20) -----------------------------------------------------------------------------------------


class Registry:
    """An agent's published keys: a signature is its own only by one of them, within that key's validity."""

    def __init__(self, document):
        bounded(document, "keys")
        PUBLISHED_KEYS(document, "keys")
        self.agent_id, self.rotations = document["agent_id"], document["rotations"]
        self.keys = {unspelled(key["public_key"], 32): key for key in document["keys"]}
        for index, rotation in enumerate(self.rotations):
            check_rotation(rotation, self.agent_id, f"keys.rotations[{index}]")

    def demand(self, agent_id, key, when, place):
        demand(agent_id == self.agent_id, place, f"no key is registered for {agent_id}")
        known = self.keys.get(unspelled(key, 32))
        demand(known, place, f"is no key that is registered for {agent_id}")
        demand(instant(known["created_at"]) <= when, place, "was not yet registered at that time")
        retired = known.get("retired_at")
        demand(retired is None or when <= instant(retired) + GRACE, place, "was retired more than 24 hours before")


def check_rotation(rotation, agent_id, place):
    demand(rotation["agent_id"] == agent_id, at(place, "agent_id"), "is another agent")
    body = without(rotation, "signature")
    verify("rotation", body, rotation["old_public_key"], rotation["signature"], at(place, "signature"))


class Keys:
    """The asking agent's keys along a chain: one is current, replaced ones count for 24 hours more."""

    def __init__(self, agent_id, first, registry):
        self.agent_id, self.registry = agent_id, registry
        self.current, self.spelled = unspelled(first, 32), first
        self.until, self.last_used = {}, {}
        self.rotated_at = None

    def demand(self, key, when, place):
        data = unspelled(key, 32)
        if data != self.current:
            demand(data in self.until, place, "is not the asking agent's key at this point of the chain")
            demand(when <= self.until[data], place, "was replaced more than 24 hours before")
        if self.registry:
            self.registry.demand(self.agent_id, key, when, place)
        self.last_used[data] = max(when, self.last_used.get(data, when))

    def rotate(self, rotation, place):
        check_rotation(rotation, self.agent_id, place)
        old, new = unspelled(rotation["old_public_key"], 32), unspelled(rotation["new_public_key"], 32)
        when = instant(rotation["rotated_at"])
        demand(old == self.current, at(place, "old_public_key"), "is not the key that was in use")
        demand(new != old and new not in self.until, at(place, "new_public_key"), "was in use before")
        in_order = self.rotated_at is None or self.rotated_at <= when
        demand(in_order, at(place, "rotated_at"), "is before the rotation that precedes it")
        late = self.last_used.get(old, when) > when + GRACE
        demand(not late, at(place, "rotated_at"), "is more than 24 hours before the old key's last signature")
        if self.registry:
            self.registry.demand(self.agent_id, rotation["new_public_key"], when, at(place, "new_public_key"))
        self.until[old], self.rotated_at = when + GRACE, when
        self.current, self.spelled = new, rotation["new_public_key"]

    def follow_published(self):
        """A document around a chain may be newer than it; then the published statements lead to its key."""
        for index, rotation in enumerate(self.registry.rotations if self.registry else []):
            if unspelled(rotation["old_public_key"], 32) == self.current:
                self.rotate(rotation, f"keys.rotations[{index}]")


# ---- The chain (§7) --------------------------------------------------------------------------------------------------


class Chain:
    """A record's entries, walked from the first on. The members hold the state at the current entry."""

    def __init__(self, record, place, registry):
        self.record, self.place = record, place
        self.agent_id, self.session_id = record["agent_id"], record["session_id"]
        self.keys = Keys(self.agent_id, first_key(record), registry)
        self.head = genesis(self.session_id, record["plan_digest"])
        self.now = None
        self.plans = [(record["plan_digest"], None)]
        self.rounds, self.views = [], []
        self.gaps, self.latest, self.superseded = {}, {}, set()
        self.abandoned_by = None
        for index, entry in enumerate(record["chain"]):
            self.step(entry, at(at(place, "chain"), index))

    def step(self, entry, place):
        demand(entry["prev"] == self.head, at(place, "prev"), "is not the hash of the entry before")
        event = entry.get("event")
        goes_on = self.abandoned_by is None or event == "key_rotated" or entry.get("abandoned_by") == "person"
        demand(goes_on, place, "follows though the session was abandoned before")
        steps = {"key_rotated": self.key_rotated, "plan_changed": self.plan_changed, "abandoned": self.abandoned}
        steps.get(entry.get("event"), self.round)(entry, place)
        demand(entry["entry_hash"] == entry_hash(entry), at(place, "entry_hash"), "is not the hash of this entry")
        self.head = entry["entry_hash"]

    def tick(self, moment, place):
        when = instant(moment)
        demand(self.now is None or self.now <= when, place, "is before the time that precedes it")
        self.now = when
        return when

    def key_rotated(self, entry, place):
        when, rotation = self.tick(entry["timestamp"], at(place, "timestamp")), at(place, "rotation")
        told_after = instant(entry["rotation"]["rotated_at"]) <= when
        demand(told_after, at(rotation, "rotated_at"), "is after the entry that tells of it")
        self.keys.rotate(entry["rotation"], rotation)

    def plan_changed(self, entry, place):
        when = self.tick(entry["timestamp"], at(place, "timestamp"))
        self.keys.demand(entry["agent_public_key"], when, at(place, "agent_public_key"))
        body = {name: entry[name] for name in ("agent_public_key", "timestamp", "plan_digest", "prev")}
        body |= {"session_id": self.session_id, "agent_id": self.agent_id}
        verify("plan", body, entry["agent_public_key"], entry["signature"], at(place, "signature"))
        self.plans.append((entry["plan_digest"], when))
        self.superseded |= self.open()

    def abandoned(self, entry, place):
        when = self.tick(entry["timestamp"], at(place, "timestamp"))
        self.keys.demand(entry["agent_public_key"], when, at(place, "agent_public_key"))
        same = entry["plan_digest"] == self.plans[-1][0]
        demand(same, at(place, "plan_digest"), "is not the plan that was submitted last")
        answered = self.settled() & set(entry["unanswered"])
        demand(not answered, at(place, "unanswered"), f"names {', '.join(sorted(answered))}, which was answered")
        names = ("agent_public_key", "timestamp", "abandoned_by", "unanswered", "plan_digest", "prev")
        body = {name: entry[name] for name in names} | {"session_id": self.session_id, "agent_id": self.agent_id}
        verify("abandonment", body, entry["agent_public_key"], entry["signature"], at(place, "signature"))
        self.abandoned_by = entry["abandoned_by"]

    def round(self, entry, place):
        demand(entry["round"] == len(self.rounds) + 1, at(place, "round"), f"is not {len(self.rounds) + 1}")
        self.check_gap(entry["gap"], at(place, "gap"))
        ask = self.check_ask(entry, place)
        answer = self.check_answer(entry, digest(signing_input("ask", ask)), place)
        person = entry.get("given_by") == "person"
        demand(person or "decision_id" not in entry, at(place, "decision_id"), "is there though no person answered")
        self.rounds.append((entry, len(self.plans)))
        self.latest[entry["gap"]["id"]] = entry
        self.views.append(view(ask, answer, entry))

    def check_gap(self, gap, place):
        known = self.gaps.setdefault(gap["id"], gap)
        demand(known is gap or canonical(known) == canonical(gap), place, "is another gap of the same number")
        demand(gap["id"] not in self.superseded, at(place, "id"), "was superseded when the plan changed")

    def check_ask(self, entry, place):
        when = self.tick(entry["ask_timestamp"], at(place, "ask_timestamp"))
        plan = self.plans[-1][0]
        same = entry.get("plan_digest", plan) == plan
        demand(same, at(place, "plan_digest"), "is not the plan that was submitted last")
        key = entry.get("agent_public_key", self.keys.spelled)
        self.keys.demand(key, when, at(place, "agent_public_key"))
        body = {name: entry[name] for name in ("round", "ask_timestamp", "gap", "prev")}
        body |= {"session_id": self.session_id, "agent_id": self.agent_id, "agent_public_key": key, "plan_digest": plan}
        verify("ask", body, key, entry["ask_signature"], at(place, "ask_signature"))
        return body

    def check_answer(self, entry, ask_hash, place):
        when = self.tick(entry["answer_timestamp"], at(place, "answer_timestamp"))
        self.check_answerer(entry["answered_by"], when, at(place, "answered_by"))
        body = {name: entry[name] for name in ("round", "answer", "answer_timestamp", "answered_by")}
        body |= {"session_id": self.session_id, "gap_id": entry["gap"]["id"], "ask_hash": ask_hash}
        key = entry["answered_by"]["public_key"]
        verify("answer", body, key, entry["answer_signature"], at(place, "answer_signature"))
        substantive = not entry["resolved"] or settles(entry["gap"], entry["answer"])
        demand(substantive, at(place, "resolved"), "is true though the answer says nothing")
        return body

    def check_answerer(self, by, when, place):
        """W-06: the asking agent's signature for another is marked as such, and by its own key."""
        if not by["attested"]:
            demand(by["agent_id"] == self.agent_id, at(place, "agent_id"), "is not the asking agent, which signed")
        if not by["attested"] or by["agent_id"] == self.agent_id:
            self.keys.demand(by["public_key"], when, at(place, "public_key"))

    def open(self):
        """Gaps that the chain shows as open: asked for this plan, and the latest answer did not settle them."""
        return {gap for gap, entry in self.latest.items() if not entry["resolved"]} - self.superseded

    def settled(self):
        return {gap for gap, entry in self.latest.items() if entry["resolved"]}

    def answers(self):
        """The answer that counts at each place, and whether the accepted plan must have it.

        One given before the plan changed counts only if the new plan raised the same gap, which no chain shows.
        """
        found = {}
        for entry, plan in self.rounds:
            if entry["resolved"] and self.latest[entry["gap"]["id"]] is entry:
                # An accepted WARN leaves the plan as it is; older documents have the word in its place (W-05).
                stays = entry["gap"]["severity"] == "WARN" and folded(entry["answer"]) == "accept"
                found[pointer(entry["gap"])] = (entry, plan == len(self.plans) and not stays)
        return found

    def check_signature(self):
        record, place = self.record, self.place
        demand(record["total_rounds"] == len(self.rounds), at(place, "total_rounds"), f"is not {len(self.rounds)}")
        honest = not record["all_resolved"] or not self.open()
        demand(honest, at(place, "all_resolved"), f"is true though {', '.join(sorted(self.open()))} is open")
        when = self.tick(record["signed_at"], at(place, "signed_at"))
        self.keys.demand(record["agent_public_key"], when, at(place, "agent_public_key"))
        names = ("session_id", "total_rounds", "all_resolved", "signed_at", "agent_id", "agent_public_key")
        body = {name: record[name] for name in names} | {"head": self.head}
        key = record["agent_public_key"]
        verify("chain", body, key, record["chain_signature"], at(place, "chain_signature"))

    def summary(self):
        return {
            "session_id": self.session_id,
            "agent_id": self.agent_id,
            "rounds": len(self.rounds),
            "all_resolved": self.record["all_resolved"],
            "abandoned_by": self.abandoned_by,
            "head": self.head,
            "answers": [told(entry) for entry, _ in self.rounds],
        }


def first_key(record):
    """The first key that an entry carries or replaces; the record names the one in use at its end."""
    for entry in record["chain"]:
        if "rotation" in entry:
            return entry["rotation"]["old_public_key"]
        if "agent_public_key" in entry:
            return entry["agent_public_key"]
    return record["agent_public_key"]


def settles(gap, answer):
    """W-05: a blank settles nothing, and `accept` no BLOCK that does not offer it."""
    plain = folded(answer)
    offered = plain in map(folded, gap["suggestions"])
    return plain != "" and (plain != "accept" or gap["severity"] == "WARN" or offered)


def folded(words):
    return " ".join(words.split()).casefold()


def view(ask, answer, entry):
    """One round as section 6 shows it (W-17)."""
    shown = {
        "ask": ask | {"ask_signature": entry["ask_signature"]},
        "answer": answer | {"answer_signature": entry["answer_signature"]},
        "timestamp": entry["answer_timestamp"],
        "signature": entry["answer_signature"],
        "resolved": entry["resolved"],
    }
    return shown | ({"given_by": entry["given_by"]} if "given_by" in entry else {})


def told(entry):
    gap, by = entry["gap"], entry["answered_by"]
    shown = {"round": entry["round"], "gap_id": gap["id"], "question": gap["question"], "answer": entry["answer"]}
    shown |= {"by": by["agent_id"], "attested": by["attested"], "given_by": entry.get("given_by")}
    return shown | {"resolved": entry["resolved"]}


def chain_of(document, place, registry):
    RECORD(document, place)
    chain = Chain(document, place, registry)
    chain.check_signature()
    return chain


# ---- The five documents ----------------------------------------------------------------------------------------------


def record(document, place, registry):
    return chain_of(document, place, registry).summary()


def message(document, place, registry):
    check_message(document, place, registry)
    names = ("session_id", "agent_id", "status")
    return {name: document[name] for name in names} | {"rounds": 0, "gaps": len(document["gaps"])}


def check_message(document, place, registry):
    MESSAGE(document, place)
    gaps = document["gaps"]
    ids = [gap["id"] for gap in gaps]
    demand(len(set(ids)) == len(ids), at(place, "gaps"), "has two gaps of one number")
    for severity, counter in (("BLOCK", "blocking_gaps"), ("WARN", "warning_gaps")):
        counted = sum(gap["severity"] == severity for gap in gaps)
        demand(document[counter] == counted, at(place, counter), f"is not {counted}")
    status = "needs_clarification" if gaps else "ready_to_proceed"
    demand(document["status"] == status, at(place, "status"), f"is not {status}")
    check_whole("message", document, "timestamp", place, registry)


def attestation(document, place, registry):
    check_attestation(document, place, registry)
    names = ("session_id", "agent_id", "plan_digest")
    return {name: document[name] for name in names} | {"rounds": document["clarification"]["rounds"]}


def check_attestation(document, place, registry):
    ATTESTATION(document, place)
    inputs, clarification = document["inputs"], document["clarification"]
    rounds, reference = at(place, "inputs.clarification_rounds"), at(place, "inputs.clarification_chain_ref")
    demand(inputs["clarification_rounds"] == clarification["rounds"], rounds, "is not clarification.rounds")
    demand(inputs["clarification_chain_ref"] == clarification["head"], reference, "is not clarification.head")
    check_whole("attestation", document, "issued_at", place, registry)


def check_whole(kind, document, moment, place, registry):
    """A document signed as a whole except for its signature (W-03, W-27)."""
    key = document["agent_public_key"]
    if registry:
        registry.demand(document["agent_id"], key, instant(document[moment]), at(place, "agent_public_key"))
    verify(kind, without(document, "signature"), key, document["signature"], at(place, "signature"))


def check_belongs(document, moment, chain, place):
    """Of the same session, by the same agent and by a key that continues the chain's."""
    for name in ("session_id", "agent_id"):
        demand(document[name] == chain.record[name], at(place, name), "is not that of the record")
    chain.keys.demand(document["agent_public_key"], instant(document[moment]), at(place, "agent_public_key"))


def handoff(document, place, registry):
    HANDOFF(document, place)
    inner = at(place, "context.clarification")
    chain = chain_of(document["context"]["clarification"], inner, registry)
    chain.keys.follow_published()
    check_belongs(document, "created_at", chain, place)
    demand(chain.now <= instant(document["created_at"]), at(place, "created_at"), "is before the record was signed")
    check_whole("handoff", document, "created_at", place, registry)
    if "plan" in document:
        demand(chain.record["all_resolved"], at(place, "plan"), "is there though a gap is open")
        demand(chain.abandoned_by is None, at(place, "plan"), "is there though the session was abandoned")
        check_written(document["plan"], chain.answers(), at(place, "plan"))
    return chain.summary() | {"plan": "plan" in document}


def audit(document, place, registry):
    AUDIT(document, place)
    chain = chain_of(document["record"], at(place, "record"), registry)
    check_views(document["clarification_chain"], chain, at(place, "clarification_chain"))
    chain.keys.follow_published()
    check_current(document["message"], chain, at(place, "message"), registry)
    check_submitted(document["submitted_plans"], chain, at(place, "submitted_plans"))
    accepted, attested = "accepted_plan" in document, "attestation" in document
    demand(accepted or not attested, at(place, "accepted_plan"), "is missing though it is attested")
    demand(attested or not accepted, at(place, "attestation"), "is missing though a plan is accepted")
    if accepted:
        demand(chain.abandoned_by is None, at(place, "accepted_plan"), "is there though the session was abandoned")
        check_attested(document["attestation"], document["accepted_plan"], chain, at(place, "attestation"), registry)
        submitted = document["submitted_plans"][-1]["plan_object"]
        check_accepted(submitted, document["accepted_plan"], chain.answers(), at(place, "accepted_plan"))
    return chain.summary() | {"submitted_plans": len(document["submitted_plans"]), "accepted": accepted}


def check_views(views, chain, place):
    demand(len(views) == len(chain.views), place, f"has not {len(chain.views)} rounds")
    for index, (shown, expected) in enumerate(zip(views, chain.views)):
        for name in sorted(shown.keys() | expected.keys()):
            same = name in shown and name in expected and canonical(shown[name]) == canonical(expected[name])
            demand(same, at(at(place, index), name), "is not what the record says")


def check_current(document, chain, place, registry):
    """The message and the chain have the same gaps."""
    check_message(document, place, registry)
    check_belongs(document, "timestamp", chain, place)
    asked = {gap["id"]: gap for gap in document["gaps"]}
    for index, (number, gap) in enumerate(asked.items()):
        here = at(at(place, "gaps"), index)
        demand(number not in chain.settled() | chain.superseded, here, "is open here but not in the record")
        chain.check_gap(gap, here)
    missing = sorted(chain.open() - asked.keys())
    demand(not missing, at(place, "gaps"), f"lacks {', '.join(missing)}, which is open in the record")
    settled = len(chain.settled())
    demand(document["accepted_gaps"] == settled, at(place, "accepted_gaps"), f"is not {settled}")
    agrees = chain.record["all_resolved"] == (not asked)
    demand(agrees, at(place, "gaps"), "does not agree with all_resolved of the record")


def check_submitted(plans, chain, place):
    """Each plan that was asked about is there: the first, and one for each change."""
    demand(len(plans) == len(chain.plans), place, f"has not {len(chain.plans)} plans, as the record says")
    for index, (plan, (expected, _)) in enumerate(zip(plans, chain.plans)):
        here = at(place, index)
        computed = digest(canonical(plan["plan_object"]))
        demand(plan["plan_digest"] == computed, at(here, "plan_digest"), "is not the digest of this plan")
        demand(computed == expected, at(here, "plan_digest"), "is not the plan that the record says")


def check_attested(document, plan, chain, place, registry):
    check_attestation(document, place, registry)
    check_belongs(document, "issued_at", chain, place)
    clarification, inner = document["clarification"], at(place, "clarification")
    demand(clarification["rounds"] == len(chain.rounds), at(inner, "rounds"), f"is not {len(chain.rounds)}")
    demand(clarification["head"] == chain.head, at(inner, "head"), "is not the head of the chain")
    same = unspelled(clarification["chain_signature"], 64) == unspelled(chain.record["chain_signature"], 64)
    demand(same, at(inner, "chain_signature"), "is not that of the record")
    demand(chain.record["all_resolved"], place, "attests although a gap is open")
    demand(chain.now <= instant(document["issued_at"]), at(place, "issued_at"), "is before the record was signed")
    computed = digest(canonical(plan))
    demand(document["plan_digest"] == computed, at(place, "plan_digest"), "is not the digest of the accepted plan")


KINDS = {
    "clarification_chain": audit,
    "attestation_version": attestation,
    "handoff_version": handoff,
    "chain": record,
    "gaps": message,
}


# ---- The origin of each value of an accepted plan --------------------------------------------------------------------

ABSENT = object()


def pointer(gap):
    """The gap's place as a path. The pointer is exact; older documents have the dotted field (W-25)."""
    if "pointer" in gap:
        return tuple(part.replace("~1", "/").replace("~0", "~") for part in gap["pointer"][1:].split("/"))
    return tuple(re.sub(r"\[([0-9]+)\]", r".\1", gap["field"]).split("."))


def check_accepted(submitted, accepted, answers, place):
    check_written(accepted, answers, place)
    leading = {path[:length] for path in answers for length in range(len(path))}
    trace(submitted, accepted, (), answers, leading, place)


def check_written(plan, answers, place):
    for path, (entry, owed) in answers.items():
        value = found(plan, path)
        given = value is not ABSENT and gives(entry, value)
        demand(given or not owed, shown_path(place, path), f"is not the answer to {entry['gap']['id']}")


def trace(submitted, accepted, path, answers, leading, place):
    """Every value is the submitted one or an answer at that very place, and none is lost."""
    here = shown_path(place, path)
    demand(accepted is not ABSENT, here, "is lost from the plan that was submitted")
    if path in answers and gives(answers[path][0], accepted):
        return
    if submitted is ABSENT and path in leading and isinstance(accepted, (dict, list)) and accepted:
        submitted = type(accepted)()  # a parent made for an answer
    demand(submitted is not ABSENT, here, "comes neither from the submitted plan nor from an answer")
    containers = isinstance(accepted, (dict, list)) and type(accepted) is type(submitted)
    same = containers or canonical(accepted) == canonical(submitted)
    demand(same, here, "comes neither from the submitted plan nor from an answer")
    if containers:
        old, new = inner(submitted), inner(accepted)
        for name in old | new:
            trace(old.get(name, ABSENT), new.get(name, ABSENT), (*path, name), answers, leading, place)


def gives(entry, value):
    """Whether an answer's text can yield this value: as it is, in a suggestion's spelling, or parsed as JSON."""
    answer, gap = entry["answer"], entry["gap"]
    if isinstance(value, str):
        spellings = [*gap["suggestions"], *(["accept"] if gap["severity"] == "WARN" else [])]
        return value == answer or (value in spellings and folded(value) == folded(answer))
    if isinstance(value, list) and value == [part.strip() for part in answer.split(",")]:
        return True
    try:
        return canonical(parse(answer.strip(), "answer")) == canonical(value)
    except Wrong:
        return False


def found(plan, path):
    for name in path:
        plan = inner(plan).get(name, ABSENT)
    return plan


def inner(value):
    if isinstance(value, list):
        return {str(index): item for index, item in enumerate(value)}
    return value if isinstance(value, dict) else {}


def shown_path(place, path):
    return place + "".join(f"[{name}]" if name.isdecimal() else f".{name}" for name in path)


# ---- Command line ----------------------------------------------------------------------------------------------------


def serve(questions, answers):
    for line in questions:
        answers.write(json.dumps(answered(line)) + "\n")
        answers.flush()


def answered(line):
    try:
        question = json.loads(line)
        number, keys = question.get("id"), question.get("keys")
        encoded = question.get("document_base64")
        raw = question["document"] if encoded is None else base64.b64decode(encoded, validate=True)
        keys = json.dumps(keys) if isinstance(keys, dict) else keys
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        return {"id": None, "verdict": "wrong", "place": "request", "why": f"cannot be read: {error!r}"}
    if not isinstance(raw, (str, bytes)) or not (keys is None or isinstance(keys, str)):
        return {"id": number, "verdict": "wrong", "place": "request", "why": "document and keys are texts"}
    return {"id": number, **judge(raw, keys)}


def main():
    arguments = argparse.ArgumentParser(description="Verifies a clarification document offline.")
    arguments.add_argument("--keys", metavar="FILE", help="published keys of the asking agent")
    arguments.add_argument("--serve", action="store_true", help="answer questions a line until the input ends")
    arguments.add_argument("file", nargs="?", metavar="FILE")
    given = arguments.parse_args()
    if given.serve:
        return serve(sys.stdin.buffer, sys.stdout)
    if given.file is None:
        arguments.error("a FILE, or --serve")
    verdict = judge(read(given.file), read(given.keys) if given.keys else None)
    print(json.dumps(verdict))
    return 0 if verdict["verdict"] == "ok" else 1


def read(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main())
