#!/usr/bin/env python3
"""A second verifier of evidence bundles, written from docs/EVIDENCE.md alone.

    verify_evidence.py [--key KEY]... FILE    one bundle: exit 0 and its story, or exit 1 and the first thing wrong
    verify_evidence.py --lines FILE           a bundle a line: {"bundle": TEXT or "base64": BYTES, "keys": [...]}; a verdict a line

Python's standard library, and `cryptography` for Ed25519.
"""

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT, VERSION = "countersign-evidence-bundle", 1
MAX_BYTES, MAX_DEPTH, MAX_COUNT = 16 << 20, 64, 2**53 - 1
LOG_KEY, WITNESS_KEY = 1, 4
MEMBERS = {"decision": "decision_id", "session": "session_id", "delegation": "delegation_id", "execution": "execution_id"}
ERASED, WITHHELD = object(), object()


class Fault(Exception):
    """The first thing wrong: its code and its place."""

    def __init__(self, code, place):
        super().__init__(f"{code} at {place}")
        self.code, self.place = code, place


def demand(holds, code, place):
    if not holds:
        raise Fault(code, place)


# ---- The checks, in the document's order -----------------------------------------------------------------------------


def verify(raw, trusted=()):
    bundle = form(raw)
    keys = [read_key(bundle["key"], LOG_KEY, "key")]
    for number, text in enumerate(bundle["witnesses"]):
        place = f"witnesses[{number}]"
        key = read_key(text, WITNESS_KEY, place)
        demand(key not in keys[1:], "bad-key", place)
        keys.append(key)
    trusted = [parse_key(text, "key") for text in trusted]
    logs = [key for key in trusted if key[1] == LOG_KEY]
    demand(not logs or keys[0] in logs, "wrong-key", "key")
    demand(all(key in keys for key in trusted if key[1] == WITNESS_KEY), "wrong-key", "witnesses")
    origin, size, root, cosigned = checkpoint(bundle["checkpoint"], keys)
    entries = leaves(bundle, size, root)
    story = tell(entries)
    unproven = []
    for number, document in enumerate(bundle["documents"]):
        sentence = examine(document, entries, f"documents[{number}]")
        if sentence is None:
            unproven.append(f"documents[{number}]")
        else:
            story.append(sentence)
    if not subject_is_proven(bundle["subject"], entries):
        unproven.append("subject")
    return {"origin": origin, "size": size, "trusted": bool(logs), "cosigned": cosigned, "story": story, "unproven": unproven}


def checkpoint(note, keys):
    origin, size, root, text, lines = read_checkpoint(note)
    demand(origin == keys[0][0], "bad-checkpoint", "checkpoint")
    demand(len(lines) == len(keys), "signature", "checkpoint")
    times = {}
    for name, key_id, signature in lines:
        key = next((key for key in keys if key[0] == name and key[3] == key_id), None)
        if key is not None:
            times[key] = signed(key, text, signature)
    demand(len(times) == len(keys), "signature", "checkpoint")
    return origin, size, root, [[key[0], times[key]] for key in keys[1:]]


def signed(key, text, signature):
    """The time of a cosignature, or None for a log's own."""
    message, time = text.encode(), None
    if key[1] == WITNESS_KEY:
        time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
        message = f"cosignature/v1\ntime {time}\n".encode() + message
    demand(len(signature) == 64, "signature", "checkpoint")
    try:
        Ed25519PublicKey.from_public_bytes(key[2]).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise Fault("signature", "checkpoint") from None
    return time


def leaves(bundle, size, root):
    entries = []
    for number, proven in enumerate(bundle["leaves"]):
        place, index = f"leaves[{number}]", proven["index"]
        demand(not entries or entries[-1]["index"] < index, "order", f"{place}.index")
        path = [decoded(line) for line in proven["path"]]
        demand(included(index, size, root, proven["leaf"].encode(), path), "inclusion", place)
        leaf, commitments = read_leaf(proven["leaf"], bundle["project"], f"{place}.leaf")
        members = opened(leaf, commitments, proven["openings"], f"{place}.openings")
        entries.append({"index": index, "members": members})
    return entries


def included(index, size, root, leaf, path):
    if index >= size:
        return False
    first, last, digest = index, size - 1, hashlib.sha256(b"\0" + leaf).digest()
    for sibling in path:
        if last == 0:
            return False
        if first & 1 or first == last:
            digest = hashlib.sha256(b"\1" + sibling + digest).digest()
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            digest = hashlib.sha256(b"\1" + digest + sibling).digest()
        first, last = first >> 1, last >> 1
    return last == 0 and digest == root


def read_leaf(text, project, place):
    try:
        leaf = parse(text, any_number=True)
    except ValueError:
        raise Fault("bad-leaf", place) from None
    demand(isinstance(leaf, dict) and isinstance(leaf.get("commitments"), dict), "bad-leaf", place)
    commitments = leaf.pop("commitments")
    digests = all(isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest) for digest in commitments.values())
    texts = all(isinstance(leaf.get(name), str) for name in ("event_type", "timestamp", "project"))
    version = leaf.get("v")
    known = type(version) is int and version == 1
    demand(digests and texts and known and not commitments.keys() & leaf.keys(), "bad-leaf", place)
    demand(leaf["project"] == project, "bad-leaf", place)
    return leaf, commitments


def opened(leaf, commitments, openings, place):
    demand(commitments.keys() == openings.keys(), "openings", place)
    members = dict(leaf)
    for name in sorted(openings):
        opening, at = openings[name], f"{place}.{name}"
        if opening in ("erased", "withheld"):
            members[name] = ERASED if opening == "erased" else WITHHELD
            continue
        salt, value = bytes.fromhex(opening["salt"]), opening["value"]
        committed = b"countersign:commitment:1\0" + salt + name.encode() + b"\0" + value.encode()
        demand(hashlib.sha256(committed).hexdigest() == commitments[name], "commitment", at)
        try:
            members[name] = parse(value, any_number=True)
        except ValueError:
            raise Fault("commitment", at) from None
    return members


def examine(document, entries, place):
    entry = next((entry for entry in entries if entry["index"] == document["leaf"]), None)
    demand(entry is not None, "document", place)
    digest, text = entry["members"].get(document["member"]), document["text"].encode()
    if digest is ERASED or digest is WITHHELD:
        return None
    demand(hashlib.sha256(text).hexdigest() == digest, "document", place)
    told = f"The document of {len(text)} bytes is the text with the digest {shown(document['member'])}."
    return [told, [entry["index"]]]


def subject_is_proven(subject, entries):
    name = MEMBERS[subject["kind"]]
    ids = [entry["members"][name] for entry in entries if name in entry["members"]]
    if subject["id"] in [one for one in ids if isinstance(one, str)]:
        return True
    demand(any(one is ERASED or one is WITHHELD for one in ids), "subject", "subject")
    return False


# ---- The form --------------------------------------------------------------------------------------------------------


def form(raw):
    demand(len(raw) <= MAX_BYTES, "too-large", "bundle")
    try:
        bundle = parse(raw.decode("utf-8"))
    except ValueError:
        raise Fault("not-json", "bundle") from None
    demand(isinstance(bundle, dict) and bundle.get("format") == FORMAT, "other-format", "format")
    version = bundle.get("version")
    demand(type(version) is int and version == VERSION, "other-version", "version")
    closed(bundle, "format version project subject key witnesses checkpoint leaves documents", "bundle")
    string(bundle["project"], "project", empty=False)
    closed(bundle["subject"], "kind id", "subject")
    kind = bundle["subject"]["kind"]
    demand(isinstance(kind, str) and kind in MEMBERS, "form", "subject.kind")
    string(bundle["subject"]["id"], "subject.id", empty=False)
    string(bundle["key"], "key")
    for place, witness in items(bundle["witnesses"], "witnesses", 0, 100):
        string(witness, place)
    string(bundle["checkpoint"], "checkpoint")
    for place, leaf in items(bundle["leaves"], "leaves", 1, 10_000):
        form_of_leaf(leaf, place)
    for place, document in items(bundle["documents"], "documents", 0, 1_000):
        closed(document, "leaf member text", place)
        count(document["leaf"], f"{place}.leaf")
        string(document["member"], f"{place}.member", empty=False)
        string(document["text"], f"{place}.text")
    return bundle


def form_of_leaf(leaf, place):
    closed(leaf, "index leaf path openings", place)
    count(leaf["index"], f"{place}.index")
    string(leaf["leaf"], f"{place}.leaf")
    for at, line in items(leaf["path"], f"{place}.path", 0, 63):
        demand(isinstance(line, str) and len(decoded(line) or b"") == 32, "form", at)
    openings = leaf["openings"]
    demand(isinstance(openings, dict), "form", f"{place}.openings")
    for name in sorted(openings):
        opening, at = openings[name], f"{place}.openings.{name}"
        if isinstance(opening, str) and opening in ("erased", "withheld"):
            continue
        closed(opening, "salt value", at)
        salt = opening["salt"]
        demand(isinstance(salt, str) and re.fullmatch("[0-9a-f]{32}", salt), "form", f"{at}.salt")
        string(opening["value"], f"{at}.value")


def closed(value, names, place):
    demand(isinstance(value, dict), "form", place)
    demand(value.keys() == set(names.split()), "form", place)


def string(value, place, empty=True):
    demand(isinstance(value, str) and (empty or value), "form", place)


def count(value, place):
    demand(type(value) is int, "form", place)


def items(value, place, least, most):
    demand(isinstance(value, list) and least <= len(value) <= most, "form", place)
    return [(f"{place}[{number}]", item) for number, item in enumerate(value)]


def parse(text, any_number=False):
    """Strict JSON, or a ValueError."""

    def integer(digits):
        value = int(digits) if len(digits) < 400 else None
        if not any_number and (value is None or digits.startswith("-") or value > MAX_COUNT):
            raise ValueError("no count")
        return float(digits) if value is None else value

    def fraction(digits):
        value = float(digits)
        if not any_number or value in (float("inf"), float("-inf")):
            raise ValueError("no count")
        return value

    def constant(name):
        raise ValueError(name)

    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a member twice")
        return found

    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_int=integer, parse_float=fraction, parse_constant=constant
        )
    except RecursionError:
        raise ValueError("too deep") from None
    sound(value, 0)
    return value


def sound(value, depth):
    """Neither nested too deeply nor with half of a surrogate pair."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, (list, dict)):
        if depth >= MAX_DEPTH:
            raise ValueError("too deep")
        for item in value:
            sound(item, depth + 1)
        if isinstance(value, dict):
            for item in value.values():
                sound(item, depth + 1)


# ---- Keys and notes --------------------------------------------------------------------------------------------------


def decoded(text):
    """Bytes of base64, or None."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def is_name(name):
    bad = any(letter == "+" or letter.isspace() or ord(letter) < 0x20 or 0x7F <= ord(letter) <= 0x9F for letter in name)
    return bool(name) and not bad


def parse_key(text, place):
    """(name, type, public key, id)"""
    parts = text.split("+", 2)
    raw = decoded(parts[2]) if len(parts) == 3 else None
    demand(raw, "bad-key", place)
    demand(raw[0] in (LOG_KEY, WITNESS_KEY), "unknown-algorithm", place)
    key_id = hashlib.sha256(parts[0].encode() + b"\n" + raw).digest()[:4]
    demand(len(raw) == 33 and is_name(parts[0]) and key_id.hex() == parts[1], "bad-key", place)
    return parts[0], raw[0], raw[1:], key_id


def read_key(text, kind, place):
    key = parse_key(text, place)
    demand(key[1] == kind, "bad-key", place)
    return key


def read_checkpoint(note):
    bad = Fault("bad-checkpoint", "checkpoint")
    text, lines = read_note(note)
    parts = text[:-1].split("\n")
    if len(parts) < 3 or not parts[0] or "" in parts[3:]:
        raise bad
    size, root = parts[1], decoded(parts[2])
    if not re.fullmatch("0|[1-9][0-9]*", size) or len(size) > 20 or int(size) >= 2**64 or len(root or b"") != 32:
        raise bad
    return parts[0], int(size), root, text, lines


def read_note(note):
    bad = Fault("bad-checkpoint", "checkpoint")
    if len(note.encode()) > 1_000_000 or any(ord(letter) < 0x20 and letter != "\n" for letter in note):
        raise bad
    text, empty, below = note.rpartition("\n\n")
    if not empty or not below.endswith("\n"):
        raise bad
    lines = [signature_line(line) for line in below[:-1].split("\n")]
    if len(lines) > 100 or None in lines:
        raise bad
    return text + "\n", lines


def signature_line(line):
    dash, name, rest = (line.split(" ", 2) + [None, None])[:3]
    raw = decoded(rest) if rest is not None else None
    if dash != "—" or not is_name(name) or raw is None or len(raw) < 5:
        return None
    return name, raw[:4], raw[4:]


# ---- The story -------------------------------------------------------------------------------------------------------


def tell(entries):
    story = [[f"{shown(entry['members']['timestamp'])}: {sentence(entry['members'])}.", [entry["index"]]] for entry in entries]
    for claim in entries:
        asked = claim["members"]
        if asked["event_type"] != "execution_claimed" or not isinstance(asked.get("decision_id"), str):
            continue
        raised = next((entry for entry in entries if raises(entry["members"], asked["decision_id"])), None)
        digests = (asked.get("request_sha256"), raised and raised["members"].get("action_sha256"))
        if not all(isinstance(digest, str) for digest in digests):
            continue
        same = (
            "The claimed request is exactly the one that the question was about: both entries have its digest."
            if digests[0] == digests[1]
            else "The claimed request is not the one of the question itself: it was allowed by a standing approval or a plan."
        )
        story.append([same, [raised["index"], claim["index"]]])
    return story


def raises(members, decision):
    return members["event_type"] == "decision_raised" and members.get("decision_id") == decision


def sentence(members):
    clauses = TEMPLATES.get(members["event_type"])
    if clauses is None:
        return f"An entry of the type {shown(members['event_type'])} was recorded"
    told = ""
    for clause in clauses:
        names = re.findall(r"\{([a-z_0-9]+)\}", clause)
        if all(name in members for name in names):
            told += re.sub(r"\{([a-z_0-9]+)\}", lambda found: shown(members[found.group(1)]), clause)
    return told


def shown(value):
    if value is ERASED:
        return "[erased]"
    if value is WITHHELD:
        return "[withheld]"
    if isinstance(value, str):
        return shown_text(value)
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 2**53):
        return json.dumps(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(shown_text(item) for item in value)
    return "(a structured value)"


def shown_text(text):
    if re.fullmatch(r"[A-Za-z0-9._:@/+-]{1,200}", text):
        return text
    cut = "…" if len(text) > 2_000 else ""
    return "“" + "".join(f"[U+{ord(letter):04X}]" if is_hidden(ord(letter)) else letter for letter in text[:2_000]) + cut + "”"


HIDDEN = [
    (0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x200B, 0x200F), (0x201C, 0x201D), (0x2028, 0x202E),
    (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F),
]  # fmt: skip


def is_hidden(code):
    return any(first <= code <= last for first, last in HIDDEN)


TEMPLATES = {
    "agent_registered": [
        "The agent of {operator} was registered",
    ],
    "allowance_cancelled": [
        "The approval was cancelled",
        ", for: {cancelled_for}",
    ],
    "allowance_lapsed": [
        "The approval lapsed without being used",
    ],
    "auto_revoked": [
        "The service ended the delegation {delegation_id} by itself",
        ", for: {reason}",
    ],
    "call": [
        "A call of the agent ended",
        ": {method} {path}",
        ", action {action}",
        ", for {acting_for}",
        ", outcome {outcome}",
        ", effect {effect}",
    ],
    "call_settled": [
        "The outcome of the call {call_id} was established",
        ": {outcome}",
    ],
    "call_started": [
        "A call of the agent was let through to the upstream",
        ": {method} {path}",
        ", action {action}",
    ],
    "clarification_abandoned": [
        "The clarification was abandoned",
    ],
    "clarification_answered": [
        "A question about the plan was answered",
        ": {question}",
        ", answer {answer}",
        ", given by {given_by}",
    ],
    "clarification_checked": [
        "The agent's plan was checked",
        ", gaps left open: {open_gaps}",
    ],
    "clarification_confirmed": [
        "The clarified plan was confirmed",
    ],
    "clarification_expired": [
        "The clarification expired",
    ],
    "clarification_opened": [
        "The agent submitted a plan to be clarified",
        ", SHA-256 {plan_sha256}",
    ],
    "decision_extended": [
        "More time was given for the question",
        ", by {extended_by}",
        ", until {deadline}",
    ],
    "decision_governed": [
        "The question was locked or released by a governor",
        ", by {decided_by}",
    ],
    "decision_raised": [
        "A question was put to the people who may decide",
        ", as {kind}",
        ", worded by the {words}",
        ": {action}",
        ": {question}",
        ", consequence {consequence}",
        ", tool {tool}",
        ", operator {operator}",
        ", irreversible {irreversible}",
        ", least proof demanded {assurance_floor}",
    ],
    "decision_settled": [
        "The question ended as {state}",
        ", decided by {decided_by}",
        ", in the role {role}",
        ", over {via}",
        ", proven by {assurance}",
        " ({proven_by}, {proven_seconds_before} seconds before)",
        ", reason {reason}",
        ", response {response}",
        ", because of {cancelled_for}",
        ", as if the answer were {expired_as}",
        ", answered by a person {answered}",
    ],
    "delegation_granted": [
        "The delegation {delegation_id} was given",
        " to {operator}",
        " by {acting_for}",
        " for the service account {account_id}",
        ", scopes {scopes}",
        ", after a disclosure with SHA-256 {shown_sha256}",
        " in {shown_language}",
    ],
    "delegation_lifted": [
        "The suspension of the delegation {delegation_id} was lifted",
    ],
    "delegation_revoked": [
        "The delegation {delegation_id} was revoked",
        " by the {by}",
        ", reason {reason}",
    ],
    "delegation_suspended": [
        "The delegation {delegation_id} was suspended",
    ],
    "execution_claimed": [
        "The approval was claimed as {execution_id}",
        ", as the call {call_id}",
        ", approved by {approved_by}",
        ", for the request with SHA-256 {request_sha256}",
        ", uses left {uses_left}",
    ],
    "execution_conflict": [
        "A later observation of {execution_id} contradicts the finding",
        ": {outcome}",
    ],
    "execution_probe_ended": [
        "The upstream was asked about {execution_id} for the last time",
    ],
    "execution_settled": [
        "The execution {execution_id} ended as {outcome}",
        ", reported by {reported_by}",
        ", by {reconciled_by}",
        ", reason {reason}",
    ],
    "execution_unknown": [
        "The outcome of the execution {execution_id} became unknown",
    ],
    "log_key_added": [
        "The log got a new key",
    ],
    "person_erased": [
        "Records about a person were erased",
        ", by {by}",
    ],
    "session_cancelled": [
        "The session was cancelled",
        " by the {by}",
        ", reason {reason}",
    ],
    "session_started": [
        "The agent of {operator} opened a session",
        " for {acting_for}",
        " for the service account {account_id}",
        ", under the delegation {delegation_id}",
        ", with a consent receipt with SHA-256 {receipt_sha256}",
        ", signed with the operator's key {operator_kid}",
    ],
    "task_completed": [
        "The agent reported its task as completed",
    ],
    "undo_window_opened": [
        "The call was held for its undo window",
        ", until {closes_at}",
    ],
}


# ---- The command -----------------------------------------------------------------------------------------------------


def verdict(raw, keys):
    try:
        return {"verdict": "ok", **verify(raw, keys)}
    except Fault as fault:
        return {"verdict": "wrong", "code": fault.code, "place": fault.place}


def judge_lines(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            asked = json.loads(line)
            raw = base64.b64decode(asked["base64"]) if "base64" in asked else asked["bundle"].encode()
            print(json.dumps(verdict(raw, asked.get("keys", ()))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", action="append", default=[])
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("file")
    options = parser.parse_args()
    if options.lines:
        return judge_lines(options.file)
    with open(options.file, "rb") as file:
        found = verdict(file.read(MAX_BYTES + 1), options.key)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    sys.exit(found["verdict"] != "ok")


if __name__ == "__main__":
    main()
