"""ES256 keys and compact JWS, as AAP needs them (RFC 7515, 7518, 7638)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from .canonical import canonical

_ES256 = ec.ECDSA(hashes.SHA256())


class NotVerified(ValueError):
    """A JWS is malformed, or not signed by this key."""


class SigningKey:
    """A P-256 key. Its private half is written only by `to_pem`."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        if not isinstance(key.curve, ec.SECP256R1):
            raise ValueError("ES256 needs a key on P-256")
        self._key = key

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_pem(cls, pem: bytes) -> SigningKey:
        key = serialization.load_pem_private_key(pem, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("ES256 needs a key on P-256")
        return cls(key)

    @classmethod
    def from_scalar(cls, d: str) -> SigningKey:
        """From the member `d` of a JWK."""
        return cls(ec.derive_private_key(int.from_bytes(unb64(d), "big"), ec.SECP256R1()))

    def to_pem(self) -> bytes:
        """Store it for its owner only."""
        pkcs8 = serialization.PrivateFormat.PKCS8
        return self._key.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption())

    def jwk(self) -> dict[str, str]:
        """The public half."""
        numbers = self._key.public_key().public_numbers()
        x, y = (b64(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
        return {"kty": "EC", "crv": "P-256", "x": x, "y": y}

    def thumbprint(self) -> str:
        """RFC 7638."""
        return b64(sha256(canonical(self.jwk())).digest())

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        signed = ".".join(b64(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
        r, s = decode_dss_signature(self._key.sign(signed.encode(), _ES256))
        return f"{signed}.{b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class OperatorKey:
    """The key of an operator: it states that an agent is this operator's own, to exactly one service."""

    def __init__(self, domain: str, kid: str, key: SigningKey, lifetime: int = 300) -> None:
        self.domain, self._kid, self._key, self._lifetime = domain, kid, key, lifetime

    def operator_jwt(self, service: str) -> str:
        now = int(time.time())
        header = {"alg": "ES256", "kid": self._kid, "typ": "aap-operator+jwt"}
        return self._key.sign(header, {"iss": self.domain, "aud": service, "iat": now, "exp": now + self._lifetime})


def verify(jws: str, jwk: Mapping[str, str]) -> dict[str, Any]:
    """The claims of a JWS that this ES256 key signed. Times and audience are the caller's to check."""
    try:
        header, claims, signature = (unb64(part) for part in jws.split("."))
        if json.loads(header)["alg"] != "ES256" or len(signature) != 64:
            raise NotVerified("it is not signed with ES256")
        x, y = (int.from_bytes(unb64(jwk[name]), "big") for name in ("x", "y"))
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        pair = (int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
        key.verify(encode_dss_signature(*pair), jws.rpartition(".")[0].encode(), _ES256)
        return dict(json.loads(claims))
    except InvalidSignature as why:
        raise NotVerified("the signature is not by this key") from why
    except (ValueError, KeyError, TypeError) as why:
        raise NotVerified("it is no JWS") from why


def claims_of(jws: str) -> dict[str, Any]:
    """The claims without a check, for what is only passed on."""
    try:
        return dict(json.loads(unb64(jws.split(".")[1])))
    except (ValueError, IndexError, TypeError) as why:
        raise NotVerified("it is no JWS") from why


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
