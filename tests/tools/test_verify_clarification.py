"""Tests of the Python verifier of clarifications: published vectors, documents made here, and damaged ones.

    python3 -m unittest discover -s tests/tools
"""

import sys

sys.dont_write_bytecode = True

import base64
import copy
import hashlib
import json
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import verify_clarification as clarification
from verify_clarification import L, P, Wrong, canonical, digest, judge, parse, signing_input, strictly_signed, without

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "clarification-vectors.json").read_bytes())
PROGRAM = Path(__file__).with_name("verify_clarification.py")
SESSION = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"
AGENT = "wwa-scaffold-v1.0.0"


# ---- Signing, which only the tests need ------------------------------------------------------------------------------


class Key:
    def __init__(self, secret):
        half = hashlib.sha512(secret).digest()
        self.scalar = int.from_bytes(half[:32], "little") & ((1 << 254) - 8) | 1 << 254
        self.prefix = half[32:]
        self.bytes = clarification.encode(clarification.base().times(self.scalar))
        self.text = "ed25519:" + self.bytes.hex()

    def sign(self, data):
        nonce = number(hashlib.sha512(self.prefix + data).digest()) % L
        r = clarification.encode(clarification.base().times(nonce))
        k = number(hashlib.sha512(r + self.bytes + data).digest()) % L
        return r + ((nonce + k * self.scalar) % L).to_bytes(32, "little")

    def signs(self, kind, body):
        return "ed25519:" + self.sign(signing_input(kind, body)).hex()


def number(data):
    return int.from_bytes(data, "little")


def point_times(point, scalar):
    return clarification.product(point, scalar)


FIRST, SECOND, THIRD, CALLER, STRANGER = (Key(bytes([n]) * 32) for n in range(1, 6))


# ---- A session made by hand ------------------------------------------------------------------------------------------


def minute(count):
    return f"2026-05-10T{15 + count // 60:02}:{count % 60:02}:00Z"


def gap(count, field="compliance.jurisdiction", severity="BLOCK", **more):
    path = "/" + field.replace(".", "/")
    return {
        "id": f"gap-{count:03}",
        "field": field,
        "pointer": path,
        "severity": severity,
        "question": f"What is {field}?",
        "context": "JSP 440 ↔ USWDS",
        "suggestions": ["jsp-440-only", "uswds-only"],
        "blocked_operations": ["planner", "build"],
    } | more


class Session:
    """Writes the documents of one session. Members given by name replace the right ones before signing."""

    def __init__(self, plan=None):
        self.plans = [{"plan_object": plan or {"languages": ["en-gb"], "n": 1}}]
        self.key, self.chain, self.rounds = FIRST, [], 0
        self.head = clarification.genesis(SESSION, self.plan_digest())

    def plan_digest(self, index=-1):
        return digest(canonical(self.plans[index]["plan_object"]))

    def push(self, entry):
        entry["prev"] = entry.get("prev", self.head)
        entry["entry_hash"] = clarification.entry_hash(entry)
        self.head = entry["entry_hash"]
        self.chain.append(entry)
        return self

    def round(self, asked, answer, when, resolved=True, by=None, key=None, **made):
        self.rounds += 1
        key, answerer = key or self.key, by or key or self.key
        who = {"agent_id": "caller-1" if by else AGENT, "public_key": answerer.text, "attested": by is not None}
        entry = {"round": self.rounds, "ask_timestamp": minute(when), "gap": asked, "prev": self.head}
        entry |= {"agent_public_key": key.text, "plan_digest": self.plan_digest()} | made
        ask = {"session_id": SESSION, "agent_id": AGENT}
        asked_with = ("round", "ask_timestamp", "gap", "prev", "agent_public_key", "plan_digest")
        ask |= {name: entry[name] for name in asked_with}
        given = {"answer": answer, "answer_timestamp": minute(when + 1), "answered_by": who, "resolved": resolved}
        entry = given | entry
        body = {name: entry[name] for name in ("round", "answer", "answer_timestamp", "answered_by")}
        body |= {"session_id": SESSION, "gap_id": asked["id"], "ask_hash": digest(signing_input("ask", ask))}
        entry |= {"ask_signature": key.signs("ask", ask), "answer_signature": answerer.signs("answer", body)}
        return self.push({"given_by": "own"} | entry)

    def rotated(self, new, when, rotated_at=None, signer=None, **made):
        statement = rotation(self.key, new, minute(when) if rotated_at is None else rotated_at, signer) | made
        self.key = new
        return self.push({"event": "key_rotated", "timestamp": minute(when), "rotation": statement})

    def plan_changed(self, plan, when, key=None):
        self.plans.append({"plan_object": plan})
        key = key or self.key
        body = {"timestamp": minute(when), "plan_digest": self.plan_digest(), "agent_public_key": key.text}
        body["prev"] = self.head
        signature = key.signs("plan", body | {"session_id": SESSION, "agent_id": AGENT})
        return self.push({"event": "plan_changed", **body, "signature": signature})

    def abandoned(self, when, by="own", unanswered=(), key=None, **made):
        key = key or self.key
        body = {"timestamp": minute(when), "abandoned_by": by, "unanswered": list(unanswered)}
        body |= {"plan_digest": self.plan_digest(), "agent_public_key": key.text, "prev": self.head} | made
        signature = key.signs("abandonment", body | {"session_id": SESSION, "agent_id": AGENT})
        return self.push({"event": "abandoned", **body, "signature": signature})

    def record(self, when=200, all_resolved=True, key=None, **made):
        key = key or self.key
        body = {"session_id": SESSION, "agent_id": AGENT, "agent_public_key": key.text, "total_rounds": self.rounds}
        body |= {"all_resolved": all_resolved, "signed_at": minute(when)} | made
        signature = key.signs("chain", body | {"head": self.head})
        return body | {"chain": self.chain, "plan_digest": self.plan_digest(0), "chain_signature": signature}

    def message(self, gaps=(), accepted=0, when=200, key=None, **made):
        key = key or self.key
        severities = [gap["severity"] for gap in gaps]
        body = {
            "$schema": clarification.SCHEMA,
            "protocol_version": "1.0.0",
            "session_id": SESSION,
            "agent_id": AGENT,
            "agent_public_key": key.text,
            "timestamp": minute(when),
            "status": "needs_clarification" if gaps else "ready_to_proceed",
            "gaps": list(gaps),
            "accepted_gaps": accepted,
            "blocking_gaps": severities.count("BLOCK"),
            "warning_gaps": severities.count("WARN"),
        } | made
        return body | {"signature": key.signs("message", body)}

    def attestation(self, record, plan, when=201, key=None, **made):
        key = key or self.key
        body = {
            "attestation_version": "1.0.0",
            "session_id": SESSION,
            "agent_id": AGENT,
            "agent_public_key": key.text,
            "issued_at": minute(when),
            "plan_digest": digest(canonical(plan)),
            "inputs": {"clarification_rounds": self.rounds, "clarification_chain_ref": self.head},
            "clarification": {"rounds": self.rounds, "head": self.head, "chain_signature": record["chain_signature"]},
        } | made
        return body | {"signature": key.signs("attestation", body)}

    def handoff(self, record, when=202, key=None, **made):
        key = key or self.key
        body = {"handoff_version": "1.0.0", "session_id": SESSION, "agent_id": AGENT, "agent_public_key": key.text}
        body |= {"created_at": minute(when), "context": {"clarification": record}} | made
        return body | {"signature": key.signs("handoff", body)}

    def audit(self, record, message, accepted_plan=None, attestation=None):
        chain = clarification.Chain(record, "record", None)
        plans = [plan | {"plan_digest": digest(canonical(plan["plan_object"]))} for plan in self.plans]
        document = {"clarification_chain": chain.views, "record": record, "message": message, "submitted_plans": plans}
        if accepted_plan is not None:
            attestation = attestation or self.attestation(record, accepted_plan)
            document |= {"accepted_plan": accepted_plan, "attestation": attestation}
        return copy.deepcopy(document)


def rotation(old, new, rotated_at, signer=None):
    body = {"agent_id": AGENT, "old_public_key": old.text, "new_public_key": new.text, "rotated_at": rotated_at}
    return body | {"signature": (signer or old).signs("rotation", body)}


def published(*keys, rotations=(), created=minute(0), retired=None):
    entries = [{"public_key": key.text, "created_at": created} for key in keys]
    if retired:
        entries[0]["retired_at"] = retired
    return json.dumps({"agent_id": AGENT, "keys": entries, "rotations": list(rotations)})


def eventful():
    """Escalated, answered by a person, by a caller's own key, over a rotation and a changed plan."""
    session = Session()
    first, second = gap(1), gap(2, "layout.direction", "WARN")
    session.round(first, "", 1, resolved=False)
    session.round(first, "JSP-440-only ", 3, given_by="person", decision_id="dec_1")
    session.rotated(SECOND, 6)
    session.plan_changed({"languages": ["ar-sa"], "n": 1.5, "ok": True}, 7)
    session.round(second, "accept", 8, by=CALLER)
    session.round(gap(3, "build.output"), "out ü 😀", 10)
    return session


ACCEPTED = {
    "languages": ["ar-sa"],
    "n": 1.5,
    "ok": True,
    "layout": {"direction": "accept"},
    "build": {"output": "out ü 😀"},
}


def eventful_audit(accepted=None):
    session = eventful()
    record = session.record()
    return session.audit(record, session.message(accepted=3), copy.deepcopy(ACCEPTED if accepted is None else accepted))


class Case(unittest.TestCase):
    def holds(self, document, keys=None):
        verdict = judge(document if isinstance(document, (str, bytes)) else json.dumps(document), keys)
        self.assertEqual(verdict["verdict"], "ok", verdict)
        return verdict

    def wrong(self, place, document, keys=None):
        verdict = judge(document if isinstance(document, (str, bytes)) else json.dumps(document), keys)
        self.assertEqual((verdict["verdict"], verdict.get("place")), ("wrong", place), verdict)
        return verdict


# ---- Vectors ---------------------------------------------------------------------------------------------------------


def vector_record():
    body = without(VECTORS["chain_body"], "head")
    chain = {"chain": [VECTORS["entry"]], "plan_digest": VECTORS["plan_digest"]}
    return copy.deepcopy(body | chain | {"chain_signature": VECTORS["chain_signature"]})


class Vectors(Case):
    agent = Key(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    caller = Key(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))

    def test_every_byte_of_the_published_vectors_is_reproduced(self):
        message, entry = without(VECTORS["message"], "signature"), VECTORS["entry"]
        self.assertEqual(digest(canonical(VECTORS["plan_object"])), VECTORS["plan_digest"])
        self.assertEqual(signing_input("message", message).hex(), VECTORS["message_input_hex"])
        self.assertEqual(self.agent.signs("message", message), VECTORS["message"]["signature"])
        self.assertEqual(clarification.genesis(SESSION, VECTORS["plan_digest"]), VECTORS["genesis"])
        self.assertEqual(self.agent.signs("ask", VECTORS["ask_body"]), VECTORS["ask_signature"])
        self.assertEqual(digest(signing_input("ask", VECTORS["ask_body"])), VECTORS["answer_body"]["ask_hash"])
        self.assertEqual(self.caller.signs("answer", VECTORS["answer_body"]), VECTORS["answer_signature"])
        self.assertEqual(clarification.entry_hash(entry), entry["entry_hash"])
        self.assertEqual(self.agent.signs("chain", VECTORS["chain_body"]), VECTORS["chain_signature"])

    def test_the_message_and_the_record_of_the_vectors_hold(self):
        self.assertEqual(self.holds(VECTORS["message"])["signed_by"], "integrity only")
        known = self.holds(vector_record(), published(self.agent))
        self.assertEqual((known["signed_by"], known["rounds"]), ("known key", 1))

    def test_the_views_of_a_round_carry_the_bodies_of_the_vectors(self):
        shown = clarification.Chain(vector_record(), "", None).views[0]
        self.assertEqual(without(shown["ask"], "ask_signature"), VECTORS["ask_body"])
        self.assertEqual(without(shown["answer"], "answer_signature"), VECTORS["answer_body"])

    def test_flipping_any_byte_of_the_vector_record_is_found(self):
        raw = canonical(vector_record())
        for index in range(len(raw)):
            spoiled = raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1 :]
            self.assertEqual(judge(spoiled)["verdict"], "wrong", spoiled[index - 20 : index + 20])


# ---- Ed25519 ---------------------------------------------------------------------------------------------------------

# RFC 8032 7.1: key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]
TORSION = clarification.decode(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))


class Ed25519(unittest.TestCase):
    def test_the_vectors_of_rfc_8032_hold_on_both_ways_of_multiplying(self):
        for key, data, signature in RFC_8032 * 8:
            self.assertTrue(strictly_signed(*map(bytes.fromhex, (key, signature, data))))

    def test_every_flipped_bit_of_key_signature_and_data_is_refused(self):
        key, data, signature = (bytes.fromhex(part) for part in RFC_8032[2])
        whole = key + data + signature
        for bit in range(8 * len(whole)):
            spoiled = (number(whole) ^ 1 << bit).to_bytes(len(whole), "little")
            self.assertFalse(strictly_signed(spoiled[:32], spoiled[34:], spoiled[32:34]), bit)

    def test_an_s_beyond_the_order_is_refused(self):
        signature = FIRST.sign(b"x")
        s = number(signature[32:])
        for more in (L, 2 * L, 3 * L):
            self.assertFalse(strictly_signed(FIRST.bytes, signature[:32] + (s + more).to_bytes(32, "little"), b"x"))

    def test_there_are_eight_points_of_small_order(self):
        self.assertEqual(len(clarification.SMALL_ORDER), 8)
        for point in map(clarification.decode, clarification.SMALL_ORDER):
            self.assertEqual(clarification.encode(point_times(point, 8)), clarification.encode(clarification.IDENTITY))

    def test_a_key_of_small_order_is_refused_though_the_equation_holds(self):
        """S = 0 and R = -[k]A hold for a key of order two whenever k fits."""
        refused = 0
        for key in clarification.SMALL_ORDER:
            for r in clarification.SMALL_ORDER:
                for data in (bytes([n]) for n in range(16)):
                    k = number(hashlib.sha512(r + key + data).digest()) % L
                    minus = point_times(clarification.decode(key), 8 - k % 8)
                    if clarification.encode(minus) == r:
                        refused += 1
                        self.assertFalse(strictly_signed(key, r + bytes(32), data))
        self.assertGreater(refused, 50)

    def test_an_r_of_small_order_is_refused_though_the_equation_holds(self):
        r = clarification.encode(clarification.IDENTITY)
        k = number(hashlib.sha512(r + FIRST.bytes + b"x").digest()) % L
        signature = r + (k * FIRST.scalar % L).to_bytes(32, "little")
        self.assertFalse(strictly_signed(FIRST.bytes, signature, b"x"))

    def test_a_signature_with_a_torsion_component_is_refused(self):
        """It holds only after multiplying by the cofactor, which some verifiers do."""
        nonce = 12345
        plain = clarification.base().times(nonce)
        for torsion in range(1, 8):
            r = clarification.encode(clarification.add(plain, clarification.addend(point_times(TORSION, torsion))))
            k = number(hashlib.sha512(r + FIRST.bytes + b"x").digest()) % L
            signature = r + ((nonce + k * FIRST.scalar) % L).to_bytes(32, "little")
            self.assertFalse(strictly_signed(FIRST.bytes, signature, b"x"))

    def test_spellings_of_points_that_are_not_canonical_are_none(self):
        for y in range(19):
            for odd in (0, 1):
                self.assertIsNone(clarification.decode((y + P | odd << 255).to_bytes(32, "little")))
        for y in (1, P - 1):
            self.assertIsNone(clarification.decode((y | 1 << 255).to_bytes(32, "little")))

    def test_wrong_lengths_are_refused(self):
        signature = FIRST.sign(b"x")
        self.assertFalse(strictly_signed(FIRST.bytes, signature[:63], b"x"))
        self.assertFalse(strictly_signed(FIRST.bytes, signature + b"\0", b"x"))
        self.assertFalse(strictly_signed(FIRST.bytes[:31], signature, b"x"))


# ---- JSON ------------------------------------------------------------------------------------------------------------


class Json(Case):
    def test_what_is_no_i_json_is_refused(self):
        spoiled = ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '["\\ud800"]', '["\\udc00\\ud800"]', "[NaN]", "[Infinity]"]
        spoiled += ["[-Infinity]", "[9007199254740993]", "[-9007199254740993]", "[1e400]"]
        spoiled += ["[" + "9" * 5000 + "]", "[01]", "[1.]", "[.5]", "[+1]", "[1,]", '["\t"]', "[1] x", "\ufeff[1]", ""]
        spoiled += [b'["\xff"]', b'["\xed\xa0\x80"]']
        for text in [*spoiled, "[" * 100_000, "[\u0661]"]:
            with self.assertRaises(Wrong, msg=text[:40]):
                parse(text, "document")

    def test_what_is_just_i_json_is_read(self):
        self.assertEqual(parse("[9007199254740992,-9007199254740992]", "x"), [2**53, -(2**53)])
        self.assertEqual(parse('["\\ud83d\\ude00"]', "x"), ["😀"])

    def test_numbers_are_written_as_ecmascript_writes_them(self):
        """RFC 8785 appendix B."""
        cases = {
            "0000000000000000": "0",
            "8000000000000000": "0",
            "0000000000000001": "5e-324",
            "8000000000000001": "-5e-324",
            "7fefffffffffffff": "1.7976931348623157e+308",
            "ffefffffffffffff": "-1.7976931348623157e+308",
            "4340000000000000": "9007199254740992",
            "c340000000000000": "-9007199254740992",
            "4430000000000000": "295147905179352830000",
            "44b52d02c7e14af5": "9.999999999999997e+22",
            "44b52d02c7e14af6": "1e+23",
            "44b52d02c7e14af7": "1.0000000000000001e+23",
            "444b1ae4d6e2ef4e": "999999999999999700000",
            "444b1ae4d6e2ef4f": "999999999999999900000",
            "444b1ae4d6e2ef50": "1e+21",
            "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
            "3eb0c6f7a0b5ed8d": "0.000001",
            "41b3de4355555553": "333333333.3333332",
            "41b3de4355555554": "333333333.33333325",
            "41b3de4355555555": "333333333.3333333",
            "41b3de4355555556": "333333333.3333334",
            "41b3de4355555557": "333333333.33333343",
            "becbf647612f3696": "-0.0000033333333333333333",
            "43143ff3c1cb0959": "1424953923781206.2",
        }
        for bits, text in cases.items():
            self.assertEqual(canonical(struct.unpack(">d", bytes.fromhex(bits))[0]).decode(), text)
        for read, text in {"1.0": "1", "-0": "0", "-0.0": "0", "1E2": "100", "1e-7": "1e-7", "12.50": "12.5"}.items():
            self.assertEqual(canonical(parse(read, "x")).decode(), text)

    def test_members_are_sorted_by_their_utf_16_units(self):
        """RFC 8785 3.2.3: U+1F600 begins with D83D and so precedes U+FB33."""
        shuffled = {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7}
        self.assertEqual(list(json.loads(canonical(shuffled))), ["\r", "1", "\x80", "ö", "€", "😀", "\ufb33"])

    def test_texts_are_escaped_as_little_as_possible(self):
        written = canonical('€$\x0f\nA\'B"\\\\"/\x7f\u2028').decode()
        self.assertEqual(written, '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f\u2028"')
        self.assertEqual(canonical([None, True, False, {}, []]), b"[null,true,false,{},[]]")

    def test_composed_and_decomposed_letters_stay_different(self):
        self.assertNotEqual(digest(canonical("\u00fc")), digest(canonical("u\u0308")))


class Spellings(Case):
    def test_a_key_has_one_value_in_hex_and_in_base64(self):
        for encoded in (base64.b64encode(FIRST.bytes), base64.urlsafe_b64encode(FIRST.bytes)):
            for text in (encoded.decode(), encoded.decode().rstrip("=")):
                self.assertEqual(clarification.unspelled("ed25519:" + text, 32), FIRST.bytes)

    def test_other_spellings_are_none(self):
        plain, coded = FIRST.bytes.hex(), base64.b64encode(b"\xfb\xff" + bytes(30)).decode()
        spoiled = [plain, "ed25519:" + plain.upper(), "ed25519:" + plain[:-1], "ed25519:" + plain + "00", "ed25519:"]
        spoiled += ["ed25519:" + coded + "=", "ed25519:" + coded[:-2] + "B=", "ed25519: " + plain, "ED25519:" + plain]
        spoiled += ["ed25519:" + coded.replace("+", "-"), "ed25519:" + coded + "\n"]
        for text in spoiled:
            self.assertIsNone(clarification.unspelled(text, 32), text)

    def test_a_time_ends_in_z(self):
        self.assertEqual(clarification.instant("1970-01-01T00:00:01.5Z"), 1_500_000_000)
        spoiled = ["2026-05-10T15:00:00+00:00", "2026-05-10T15:00:00z", "2026-05-10t15:00:00Z", "2026-05-10 15:00:00Z"]
        spoiled += ["2026-02-30T15:00:00Z", "2026-05-10T24:00:00Z", "2026-05-10T15:00:60Z", "2026-05-10T15:00Z", ""]
        for text in [*spoiled, "2026-05-10T15:00:00.Z", "2026-05-10T15:00:00Z\n", "２026-05-10T15:00:00Z"]:
            self.assertIsNone(clarification.instant(text), text)

    def test_a_message_with_a_key_in_base64_is_signed_with_that_text(self):
        text = "ed25519:" + base64.urlsafe_b64encode(FIRST.bytes).decode().rstrip("=")
        message = Session().message([gap(1)], agent_public_key=text)
        self.holds(message)
        self.wrong("signature", message | {"agent_public_key": FIRST.text})


# ---- Documents -------------------------------------------------------------------------------------------------------


class Abandoned(Case):
    def test_a_session_that_was_given_up_holds_and_says_by_whom(self):
        session = Session().round(gap(1), "", 1, resolved=False).abandoned(3, unanswered=["gap-001"])
        self.assertEqual(self.holds(session.record(all_resolved=False))["abandoned_by"], "own")
        released = session.rotated(SECOND, 4).abandoned(5, by="person", unanswered=["gap-001"])
        record = released.record(all_resolved=False)
        self.assertEqual(self.holds(record)["abandoned_by"], "person")
        self.holds(released.audit(record, released.message([gap(1)])))

    def test_nothing_but_a_persons_word_follows(self):
        self.wrong("chain[1]", Session().abandoned(1).round(gap(1), "x", 2).record())
        self.wrong("chain[1]", Session().abandoned(1).plan_changed({"n": 2}, 2).record())
        self.wrong("chain[1]", Session().abandoned(1).abandoned(2).record())
        self.holds(Session().abandoned(1).abandoned(2, by="person").record())

    def test_it_is_signed_and_tells_the_truth_about_the_chain(self):
        self.wrong("chain[1].agent_public_key", Session().round(gap(1), "x", 1).abandoned(3, key=SECOND).record())
        answered = Session().round(gap(1), "x", 1).abandoned(3, unanswered=["gap-001"])
        self.wrong("chain[1].unanswered", answered.record())
        other = digest(canonical({"another": "plan"}))
        self.wrong("chain[0].plan_digest", Session().abandoned(1, plan_digest=other).record())
        record = Session().abandoned(1).record()
        record["chain"][0]["abandoned_by"] = "person"
        self.wrong("chain[0].signature", record)

    def test_an_accepted_warning_leaves_the_plan_as_it_is(self):
        self.holds(eventful_audit(without(ACCEPTED, "layout")))
        self.wrong("accepted_plan.layout.direction", eventful_audit(ACCEPTED | {"layout": {"direction": "rtl"}}))

    def test_there_is_no_accepted_plan_after_it(self):
        session = Session().abandoned(1)
        record, plan = session.record(), session.plans[-1]["plan_object"]
        self.wrong("accepted_plan", session.audit(record, session.message(), plan))
        self.wrong("plan", session.handoff(record, plan=plan))


class Messages(Case):
    def test_counters_status_and_numbers_must_agree_with_the_gaps(self):
        session, gaps = Session(), [gap(1), gap(2, severity="WARN")]
        self.holds(session.message(gaps))
        self.wrong("blocking_gaps", session.message(gaps, blocking_gaps=2))
        self.wrong("warning_gaps", session.message(gaps, warning_gaps=0))
        self.wrong("status", session.message(gaps, status="ready_to_proceed"))
        self.wrong("status", session.message([], status="needs_clarification"))
        self.wrong("gaps", session.message([gap(1), gap(1)]))
        self.wrong("gaps[0].id", session.message([gap(1, id="gap-1")]))
        self.wrong("gaps[0].id", session.message([gap(1, id="gap-000")]))
        self.wrong("gaps[0].severity", session.message([gap(1, severity="INFO")]))
        self.wrong("gaps[0].blocked_operations[0]", session.message([gap(1, blocked_operations=["party"])]))

    def test_an_unsigned_message_is_refused(self):
        self.wrong("signature", without(Session().message(), "signature"))

    def test_the_limits_hold_at_the_bound_and_not_beyond(self):
        session = Session()
        self.holds(session.message([gap(n) for n in range(1, 65)]))
        self.wrong("gaps", session.message([gap(n) for n in range(1, 66)]))
        self.holds(session.message([gap(1, context="😀" * 16_384)]))
        self.wrong("gaps[0].context", session.message([gap(1, context="x" * 16_385)]))
        self.holds(session.message([gap(1, **{"x" * 16_384: 1})]))
        self.wrong("gaps[0]", session.message([gap(1, **{"x" * 16_385: 1})]))

    def test_a_document_is_not_nested_without_end(self):
        nested = json.loads("[" * 125 + "]" * 125)
        self.holds(Session().message([gap(1, more=nested)]))
        self.wrong("gaps[0].more" + "[0]" * 125, Session().message([gap(1, more=[nested])]))

    def test_another_version_session_or_member_is_refused(self):
        session = Session()
        self.wrong("protocol_version", session.message(protocol_version="1.0.1"))
        self.wrong("$schema", session.message(**{"$schema": "https://example.com"}))
        self.wrong("session_id", session.message(session_id=SESSION.upper()))
        self.wrong("session_id", session.message(session_id=SESSION.replace("-4d01", "-1d01")))
        self.wrong("timestamp", session.message(timestamp="2026-05-10T15:00:00+00:00"))
        self.wrong("more", session.message(more=1))
        self.wrong("accepted_gaps", session.message(accepted_gaps=True))
        self.wrong("accepted_gaps", json.dumps(session.message()).replace('"accepted_gaps": 0', '"accepted_gaps": 0.0'))

    def test_who_signed_is_decided_by_the_published_keys(self):
        session = Session()
        own, foreign = session.message(), session.message(key=STRANGER)
        self.assertEqual(self.holds(own, published(FIRST))["signed_by"], "known key")
        self.assertEqual(self.holds(foreign)["signed_by"], "integrity only")
        self.wrong("agent_public_key", foreign, published(FIRST))
        self.wrong("agent_public_key", session.message(agent_id="another"), published(FIRST))
        self.wrong("agent_public_key", own, published(FIRST, created=minute(201)))
        retired = published(FIRST, created="2026-05-01T00:00:00Z", retired="2026-05-09T16:00:00Z")
        self.holds(session.message(when=60), retired)
        self.wrong("agent_public_key", session.message(when=61), retired)

    def test_spoiled_published_keys_are_refused(self):
        forged = rotation(FIRST, SECOND, minute(1), signer=STRANGER)
        self.wrong("keys.rotations[0].signature", Session().message(), published(FIRST, rotations=[forged]))
        self.wrong("keys", Session().message(), "{")
        self.wrong("keys.keys", Session().message(), '{"agent_id":"a","rotations":[]}')

    def test_a_signature_of_another_type_is_refused(self):
        message = Session().message()
        for kind in ("ask", "answer", "chain", "plan", "rotation", "attestation", "handoff", "entry", "genesis"):
            self.wrong("signature", message | {"signature": FIRST.signs(kind, without(message, "signature"))})


class Records(Case):
    def test_an_eventful_record_holds_and_tells_who_answered(self):
        verdict = self.holds(eventful().record())
        self.assertEqual((verdict["rounds"], verdict["all_resolved"]), (4, True))
        told = [(a["gap_id"], a["by"], a["attested"], a["given_by"], a["resolved"]) for a in verdict["answers"]]
        self.assertEqual(told[1], ("gap-001", AGENT, False, "person", True))
        self.assertEqual(told[2], ("gap-002", "caller-1", True, "own", True))

    def test_an_empty_chain_holds_and_binds_its_plan(self):
        record = Session().record(all_resolved=False)
        self.holds(record)
        self.wrong("chain_signature", record | {"plan_digest": digest(b"another")})

    def test_entries_dropped_doubled_or_in_another_order_are_found(self):
        record = eventful().record()
        for index in range(len(record["chain"])):
            chain = record["chain"]
            last = index == len(chain) - 1
            place = "total_rounds" if last else f"chain[{index}].prev"
            self.wrong(place, record | {"chain": chain[:index] + chain[index + 1 :]})
            self.wrong(f"chain[{index + 1}].prev", record | {"chain": chain[: index + 1] + chain[index:]})
            if not last:
                swapped = [*chain[:index], chain[index + 1], chain[index], *chain[index + 2 :]]
                self.assertEqual(judge(json.dumps(record | {"chain": swapped}))["verdict"], "wrong")
        self.wrong("chain_signature", record | {"chain": record["chain"][:-1], "total_rounds": 3})

    def test_an_entry_is_an_object_of_a_known_kind(self):
        record = Session().record()
        self.wrong("chain[0]", record | {"chain": [1]})
        self.wrong("chain[0].event", record | {"chain": [{"event": "key_lost"}]})
        self.wrong("chain[0].event", record | {"chain": [{"event": ["key_rotated"]}]})
        entry = Session().round(gap(1), "x", 1, answered_by=[]).chain
        self.wrong("chain[0].answered_by", record | {"chain": entry})

    def test_an_entry_of_another_session_is_found(self):
        other = json.loads(json.dumps(vector_record()["chain"][0]))
        record = Session().round(gap(1), "x", 1).record()
        self.wrong("chain[0].prev", record | {"chain": [other]})

    def test_rounds_are_consecutive(self):
        self.wrong("chain[0].round", Session().round(gap(1), "x", 1, round=2).record())
        self.wrong("total_rounds", Session().round(gap(1), "x", 1).record(total_rounds=2))

    def test_times_never_decrease_though_all_is_signed(self):
        late = Session().round(gap(1), "x", 5).round(gap(2), "x", 5).record()
        self.wrong("chain[1].ask_timestamp", late)
        self.wrong("chain[0].answer_timestamp", Session().round(gap(1), "x", 5, answer_timestamp=minute(4)).record())
        self.wrong("signed_at", Session().round(gap(1), "x", 5).record(when=5))
        self.wrong("chain[1].timestamp", Session().round(gap(1), "x", 5).rotated(SECOND, 5).record())
        self.wrong("chain[1].timestamp", Session().round(gap(1), "x", 5).plan_changed({}, 5).record())
        self.holds(Session().round(gap(1), "x", 5, answer_timestamp=minute(5)).round(gap(2), "x", 5).record(when=6))

    def test_a_chain_as_old_as_ten_years_holds(self):
        old = {"ask_timestamp": "2016-05-10T15:00:00Z", "answer_timestamp": "2016-05-10T15:00:00.001Z"}
        self.holds(Session().round(gap(1), "x", 5, **old).record(signed_at="2016-05-10T15:00:00.001Z"))
        self.wrong("signed_at", Session().round(gap(1), "x", 5, **old).record(signed_at="2016-05-10T15:00:00.0001Z"))

    def test_all_resolved_is_no_lie(self):
        session = Session().round(gap(1), "", 1, resolved=False)
        self.wrong("all_resolved", session.record())
        self.holds(session.record(all_resolved=False))
        self.holds(session.round(gap(1), "x", 3).record())

    def test_a_gap_that_a_changed_plan_superseded_is_not_open_and_not_asked_again(self):
        session = Session().round(gap(1), "", 1, resolved=False).plan_changed({"n": 2}, 3).round(gap(2), "x", 4)
        self.holds(session.record())
        self.wrong("chain[3].gap.id", session.round(gap(1), "x", 6).record())

    def test_one_number_is_one_gap(self):
        session = Session().round(gap(1), "", 1, resolved=False).round(gap(1, question="Another?"), "x", 3)
        self.wrong("chain[1].gap", session.record())

    def test_an_ask_is_about_the_plan_submitted_last(self):
        other = digest(canonical({"n": 2}))
        self.wrong("chain[0].plan_digest", Session().round(gap(1), "x", 1, plan_digest=other).record())
        session = Session().plan_changed({"n": 2}, 1)
        self.wrong("chain[1].plan_digest", session.round(gap(1), "x", 2, plan_digest=session.plan_digest(0)).record())

    def test_what_settles_nothing_is_not_resolved(self):
        self.wrong("chain[0].resolved", Session().round(gap(1), " ", 1).record())
        self.wrong("chain[0].resolved", Session().round(gap(1), "Accept", 1).record())
        self.holds(Session().round(gap(1, severity="WARN"), "accept", 1).record())

    def test_a_decision_belongs_to_a_person(self):
        self.wrong("chain[0].decision_id", Session().round(gap(1), "x", 1, decision_id="dec_1").record())

    def test_an_answer_that_is_not_attested_is_signed_by_the_asking_agent(self):
        def answered(agent_id, attested):
            by = {"agent_id": agent_id, "public_key": CALLER.text, "attested": attested}
            return Session().round(gap(1), "x", 1, by=CALLER, answered_by=by).record()

        self.holds(answered("caller-1", True))
        self.wrong("chain[0].answered_by.agent_id", answered("caller-1", False))
        self.wrong("chain[0].answered_by.public_key", answered(AGENT, False))
        self.wrong("chain[0].answered_by.public_key", answered(AGENT, True))

    def test_an_answer_moved_to_another_question_is_found(self):
        chain = copy.deepcopy(Session().round(gap(1), "x", 1).record())
        moved = Session().round(gap(2), "x", 1)
        moved.chain[0]["answer_signature"] = chain["chain"][0]["answer_signature"]
        self.wrong("chain[0].answer_signature", moved.record())

    def test_ten_thousand_entries_are_allowed_and_one_more_is_not(self):
        record = Session().record()
        with self.assertRaises(Wrong) as caught:
            clarification.RECORD(record | {"chain": [VECTORS["entry"]] * 10_001}, "")
        self.assertEqual(caught.exception.place, "chain")
        clarification.RECORD(record | {"chain": [VECTORS["entry"]] * 10_000}, "")


class Rotations(Case):
    def test_the_old_key_counts_for_a_day_after_its_rotation(self):
        day = "2026-05-11T15:00:00"
        for moment, place in ((".0Z", None), (".001Z", "chain[1].agent_public_key")):
            made = {"ask_timestamp": day + moment, "answer_timestamp": day + moment}
            by = {"agent_id": AGENT, "public_key": SECOND.text, "attested": False}
            session = Session().rotated(SECOND, 0)
            session.round(gap(1), "x", 0, by=SECOND, key=FIRST, answered_by=by, **made)
            record = session.record(signed_at="2026-05-12T00:00:00Z")
            self.wrong(place, record) if place else self.holds(record)

    def test_a_rotation_told_late_does_not_stretch_that_day(self):
        session = Session().round(gap(1), "x", 10)
        self.wrong("chain[1].rotation.rotated_at", session.rotated(SECOND, 20, "2026-05-09T15:10:59Z").record())
        self.holds(Session().round(gap(1), "x", 10).rotated(SECOND, 20, "2026-05-09T15:11:00Z").record())

    def test_a_rotation_is_signed_by_the_old_key_which_was_in_use(self):
        self.wrong("chain[0].rotation.signature", Session().rotated(SECOND, 1, signer=SECOND).record())
        self.wrong("chain[0].rotation.agent_id", Session().rotated(SECOND, 1, agent_id="another").record())
        session = Session().rotated(SECOND, 1)
        session.key = THIRD
        self.wrong("chain[1].rotation.old_public_key", session.rotated(STRANGER, 2).record())

    def test_a_rotation_is_not_told_before_it_happens_nor_undone(self):
        self.wrong("chain[0].rotation.rotated_at", Session().rotated(SECOND, 1, minute(2)).record())
        self.wrong("chain[1].rotation.new_public_key", Session().rotated(SECOND, 1).rotated(FIRST, 2).record())
        backwards = Session().rotated(SECOND, 1).rotated(THIRD, 2, minute(0)).record()
        self.wrong("chain[1].rotation.rotated_at", backwards)

    def test_several_in_a_row_hold_and_every_key_must_be_published(self):
        record = Session().round(gap(1), "x", 1).rotated(SECOND, 3).rotated(THIRD, 4).round(gap(2), "y", 5).record()
        self.holds(record, published(FIRST, SECOND, THIRD))
        self.wrong("chain[1].rotation.new_public_key", record, published(FIRST, THIRD))
        self.wrong("chain[0].agent_public_key", record, published(SECOND, THIRD))

    def test_a_key_without_a_rotation_entry_is_refused(self):
        session = Session().round(gap(1), "x", 1)
        self.wrong("chain[1].agent_public_key", session.round(gap(2), "x", 3, key=SECOND).record(key=FIRST))
        self.wrong("agent_public_key", Session().round(gap(1), "x", 1).record(key=SECOND))
        self.wrong("agent_public_key", Session().plan_changed({}, 1, key=SECOND).record())

    def test_entries_without_a_key_of_their_own_are_by_the_current_one(self):
        session = Session().rotated(SECOND, 1).round(gap(1), "x", 2)
        entry = without(session.chain.pop(), "agent_public_key", "plan_digest", "given_by")
        session.head = entry["prev"]
        self.holds(session.push(entry).record())


class Bundles(Case):
    def test_an_eventful_audit_holds(self):
        verdict = self.holds(eventful_audit(), published(FIRST, SECOND))
        self.assertEqual((verdict["kind"], verdict["accepted"], verdict["submitted_plans"]), ("audit", True, 2))

    def test_every_changed_added_or_missing_member_of_an_audit_is_found(self):
        whole = eventful_audit()
        for path, spoiled in spoilings(whole):
            self.assertEqual(judge(json.dumps(spoiled))["verdict"], "wrong", path)

    def test_every_changed_added_or_missing_member_of_a_handoff_is_found(self):
        session = eventful()
        whole = session.handoff(session.record(), plan=ACCEPTED)
        self.holds(whole)
        for path, spoiled in spoilings(whole):
            self.assertEqual(judge(json.dumps(spoiled))["verdict"], "wrong", path)

    def test_every_changed_added_or_missing_member_of_a_message_and_an_attestation_is_found(self):
        session = eventful()
        for whole in (session.message([gap(4)]), session.attestation(session.record(), ACCEPTED)):
            self.holds(whole)
            for path, spoiled in spoilings(whole):
                self.assertEqual(judge(json.dumps(spoiled))["verdict"], "wrong", path)

    def test_the_message_agrees_with_the_record(self):
        session = Session().round(gap(1), "x", 1).round(gap(2), "", 3, resolved=False)
        record = session.record(all_resolved=False)
        self.holds(session.audit(record, session.message([gap(2), gap(3)], accepted=1)))
        self.wrong("message.gaps", session.audit(record, session.message([gap(3)], accepted=1)))
        self.wrong("message.gaps[0]", session.audit(record, session.message([gap(1), gap(2)], accepted=1)))
        self.wrong("message.gaps[0]", session.audit(record, session.message([gap(2, question="?")], accepted=1)))
        self.wrong("message.accepted_gaps", session.audit(record, session.message([gap(2)], accepted=2)))
        foreign = session.message([gap(2)], accepted=1, key=STRANGER)
        self.wrong("message.agent_public_key", session.audit(record, foreign))
        settled = Session().round(gap(1), "x", 1)
        self.wrong("message.gaps", settled.audit(settled.record(), settled.message([gap(2)], accepted=1)))
        self.wrong("message.gaps", settled.audit(settled.record(all_resolved=False), settled.message(accepted=1)))

    def test_the_views_and_the_submitted_plans_are_those_of_the_record(self):
        def spoiled(*path, to):
            return put(eventful_audit(), path, to)

        views, plans = eventful_audit()["clarification_chain"], eventful_audit()["submitted_plans"]
        self.wrong("clarification_chain", spoiled("clarification_chain", to=views[:-1]))
        self.wrong("clarification_chain[1].given_by", spoiled("clarification_chain", 1, "given_by", to="own"))
        self.wrong("clarification_chain[0].ask", spoiled("clarification_chain", 0, "ask", "round", to=2))
        self.wrong("submitted_plans", spoiled("submitted_plans", to=plans[1:]))
        self.wrong("submitted_plans[0].plan_digest", spoiled("submitted_plans", to=plans[::-1]))
        self.wrong("submitted_plans[1].plan_digest", spoiled("submitted_plans", 1, "plan_object", "n", to=2))

    def test_values_from_nowhere_and_lost_values_are_named(self):
        def accepted(**changes):
            return eventful_audit({**ACCEPTED, **changes})

        self.wrong("accepted_plan.extra", accepted(extra="a guess"))
        self.wrong("accepted_plan.n", accepted(n=2))
        self.wrong("accepted_plan.ok", accepted(ok=1))
        self.wrong("accepted_plan.languages[0]", accepted(languages=["en"]))
        self.wrong("accepted_plan.languages[1]", accepted(languages=["ar-sa", "en"]))
        self.wrong("accepted_plan.languages[0]", accepted(languages=[]))
        self.wrong("accepted_plan.layout.more", accepted(layout={"direction": "accept", "more": {}}))
        self.wrong("accepted_plan.layout.direction", accepted(layout={"direction": "rtl"}))
        self.wrong("accepted_plan.build.output", accepted(build={}))
        lost = self.wrong("accepted_plan.ok", eventful_audit(without(ACCEPTED, "ok")))
        self.assertEqual(lost["why"], "is lost from the plan that was submitted")

    def test_an_answer_from_before_the_plan_changed_may_count_in_its_suggested_spelling(self):
        self.holds(eventful_audit({**ACCEPTED, "compliance": {"jurisdiction": "jsp-440-only"}}))
        guessed = eventful_audit({**ACCEPTED, "compliance": {"jurisdiction": "both"}})
        self.wrong("accepted_plan.compliance.jurisdiction", guessed)

    def test_answers_may_be_read_as_what_they_are(self):
        session = Session({"a": [{}]}).round(gap(1, "a.0.n"), "30", 1).round(gap(2, "b.list"), "x, y", 3)
        session.round(gap(3, "c"), "true", 5)
        record, message = session.record(), session.message(accepted=3)
        self.holds(session.audit(record, message, {"a": [{"n": 30}], "b": {"list": ["x", "y"]}, "c": True}))
        guessed = {"a": [{"n": 31}], "b": {"list": "x, y"}, "c": "true"}
        self.wrong("accepted_plan.a[0].n", session.audit(record, message, guessed))

    def test_an_attestation_is_bound_to_chain_plan_and_time(self):
        session = eventful()
        record, message = session.record(), session.message(accepted=3)

        def attested(**made):
            return session.audit(record, message, ACCEPTED, session.attestation(record, ACCEPTED, **made))

        bound = {"rounds": 4, "head": session.head, "chain_signature": record["chain_signature"]}
        inputs = {"clarification_rounds": 3, "clarification_chain_ref": session.head}
        self.wrong("attestation.plan_digest", attested(plan_digest=session.plan_digest()))
        self.wrong("attestation.issued_at", attested(when=199))
        self.wrong("attestation.agent_public_key", attested(key=STRANGER))
        self.wrong("attestation.session_id", attested(session_id=SESSION.replace("6f96", "6f97")))
        self.wrong("attestation.agent_id", attested(agent_id="another"))
        self.wrong("attestation.inputs.clarification_rounds", attested(inputs=inputs))
        older = {"clarification_rounds": 4, "clarification_chain_ref": record["chain"][4]["entry_hash"]}
        self.wrong("attestation.inputs.clarification_chain_ref", attested(inputs=older))
        head = bound | {"head": older["clarification_chain_ref"]}
        self.wrong("attestation.clarification.head", attested(inputs=older, clarification=head))
        self.wrong("attestation.clarification.rounds", attested(inputs=inputs, clarification=bound | {"rounds": 3}))
        older = bound | {"chain_signature": session.record(when=199)["chain_signature"]}
        self.wrong("attestation.clarification.chain_signature", attested(clarification=older))
        self.wrong("attestation", without(attested(), "attestation"))
        self.wrong("accepted_plan", without(attested(), "accepted_plan"))

    def test_an_attestation_over_an_open_gap_is_found(self):
        session = Session().round(gap(1), "x", 1).round(gap(2), "", 3, resolved=False)
        record = session.record(all_resolved=False)
        plan = session.plans[0]["plan_object"] | {"compliance": {"jurisdiction": "x"}}
        self.wrong("attestation", session.audit(record, session.message([gap(2)], accepted=1), plan))

    def test_a_handoff_has_no_plan_while_a_gap_is_open_and_then_one_with_the_answers(self):
        session = Session().round(gap(1), "x", 1)
        unsettled = session.record(all_resolved=False)
        self.holds(session.handoff(unsettled))
        self.wrong("plan", session.handoff(unsettled, plan={}))
        self.wrong("plan.compliance.jurisdiction", session.handoff(session.record(), plan={}))
        self.wrong("created_at", session.handoff(unsettled, when=199))

    def test_a_younger_key_around_an_older_chain_needs_the_published_rotation(self):
        session = Session().round(gap(1), "x", 1)
        late = session.handoff(session.record(), created_at="2027-01-01T00:00:00Z", key=SECOND)
        known = published(FIRST, SECOND, rotations=[rotation(FIRST, SECOND, "2026-12-01T00:00:00Z")])
        self.holds(late, known)
        self.wrong("agent_public_key", late)
        self.wrong("agent_public_key", late, published(FIRST, SECOND))

    def test_the_place_inside_a_bundle_is_named_in_full(self):
        audit = eventful_audit()
        audit["record"]["chain"][4]["answer"] = "another"
        self.wrong("record.chain[4].answer_signature", audit)
        session = eventful()
        session.chain[1]["resolved"] = False
        self.wrong("context.clarification.chain[1].entry_hash", session.handoff(session.record()))


def spoilings(whole):
    """Each leaf changed in its kind and to another kind, each member left out, each object with one more, lists too."""
    for path in paths(whole):
        value = reach(whole, path)
        for other in others(value):
            yield (*path, "changed"), put(whole, path, other)
        if isinstance(path[-1] if path else None, (str, int)):
            yield (*path, "missing"), put(whole, path)


def others(value):
    if isinstance(value, dict):
        return [value | {"more": 1}, [], "x"]
    if isinstance(value, list):
        return [value + value[-1:] if value else [1], {}, "x"]
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, (int, float)):
        return [value + 1, str(value)]
    return [value[:-1] + ("0" if value[-1:] != "0" else "1"), value + " ", None]


def paths(value, path=()):
    yield path
    for name, inner in clarification.inner(value).items():
        name = int(name) if isinstance(value, list) else name
        yield from paths(inner, (*path, name))


def reach(value, path):
    for name in path:
        value = value[name]
    return value


def put(whole, path, *other):
    if not path:
        return other[0]
    changed = json.loads(json.dumps(whole))
    parent = reach(changed, path[:-1])
    if other:
        parent[path[-1]] = other[0]
    else:
        del parent[path[-1]]
    return changed


# ---- Command line ----------------------------------------------------------------------------------------------------


class Doors(Case):
    def run_file(self, document, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps(document))
            file.flush()
            done = subprocess.run([sys.executable, PROGRAM, *arguments, file.name], capture_output=True, text=True)
            return done.returncode, json.loads(done.stdout)

    def test_the_exit_code_tells_the_verdict(self):
        message = Session().message()
        self.assertEqual(self.run_file(message)[0], 0)
        code, verdict = self.run_file(message | {"accepted_gaps": 9})
        self.assertEqual((code, verdict["place"]), (1, "signature"))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as keys:
            keys.write(published(SECOND))
            keys.flush()
            self.assertEqual(self.run_file(message, "--keys", keys.name)[1]["place"], "agent_public_key")

    def test_questions_are_answered_a_line_until_the_input_ends(self):
        good = json.dumps(Session().message())
        keys = published(FIRST)
        questions = [
            {"id": 1, "document": good},
            {"id": 2, "document": good, "keys": json.loads(keys)},
            {"id": 3, "document": good, "keys": published(SECOND)},
            {"id": "four", "document": "{}"},
            {"id": 5, "document_base64": base64.b64encode(b"\xff").decode()},
            {"id": 6},
            {"id": 7, "document": {}},
        ]
        lines = "".join(json.dumps(question) + "\n" for question in questions) + "nonsense\n"
        done = subprocess.run([sys.executable, PROGRAM, "--serve"], input=lines, capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["id"] for a in answers], [1, 2, 3, "four", 5, None, 7, None])
        self.assertEqual([a.get("signed_by") for a in answers[:3]], ["integrity only", "known key", None])
        places = [a.get("place") for a in answers[2:]]
        self.assertEqual(places, ["agent_public_key", "document", "document", "request", "request", "request"])
        self.assertEqual(done.returncode, 0)

    def test_what_is_no_clarification_document_is_refused(self):
        for text in ("{}", "[]", "1", '"x"', "null", ""):
            self.wrong("document", text)
        for member in clarification.KINDS:
            for value in (None, 1, "x", [], {}):
                self.assertEqual(judge(json.dumps({member: value}))["verdict"], "wrong")


if __name__ == "__main__":
    unittest.main()
