"""Proof of possession (DPoP, RFC 9449): a proof for each request, with the service's nonce."""

from __future__ import annotations

import time
import uuid
from hashlib import sha256
from urllib.parse import urlsplit

from ._steps import Answer
from .jws import SigningKey, b64

#: More than any service needs for a nonce; a longer one is ignored.
MAX_NONCE = 1024


class Proofs:
    """Makes proofs with one key. Nonces are kept by origin: they are not shared between services."""

    def __init__(self, key: SigningKey, nonces: dict[str, str]) -> None:
        self.key = key
        self._nonces = nonces

    def proof(self, method: str, url: str, token: str | None = None) -> str:
        claims: dict[str, object] = {
            "jti": str(uuid.uuid4()),
            "htm": method,
            "htu": url.partition("#")[0].partition("?")[0],
            "iat": int(time.time()),
        }
        if token is not None:
            claims["ath"] = b64(sha256(token.encode()).digest())
        if nonce := self._nonces.get(_origin(url)):
            claims["nonce"] = nonce
        return self.key.sign({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.jwk()}, claims)

    def learn(self, url: str, answer: Answer) -> bool:
        """Keeps the nonce of a response; true if the request was refused only for lack of this one."""
        nonce = answer.headers.get("dpop-nonce", "")
        if not 0 < len(nonce) <= MAX_NONCE:
            return False
        is_new = self._nonces.get(_origin(url)) != nonce
        self._nonces[_origin(url)] = nonce
        demanded = answer.status == 401 and "use_dpop_nonce" in answer.headers.get("www-authenticate", "")
        return is_new and demanded


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
