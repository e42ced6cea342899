"""A second judge of signatures: the PyPI library joserfc.

Reads one question a line from standard input and answers each with one line: JSON both ways.
"""

import functools
import json
import sys

from joserfc import jwt
from joserfc.jwk import ECKey, JWKRegistry, KeySet, OKPKey, RSAKey

ALGORITHMS = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA", "HS256",
]
CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


@functools.cache
def rsa_numbers():
    """RSA keys take long to generate, and one serves every RSA algorithm."""
    return RSAKey.generate_key(2048).as_dict(private=True)


def keys(question):
    """A key pair for an algorithm."""
    alg = question["alg"]
    parameters = {"kid": question["kid"], "alg": alg, "use": "sig"}
    if alg in CURVES:
        key = ECKey.generate_key(CURVES[alg], parameters)
    elif alg == "EdDSA":
        key = OKPKey.generate_key("Ed25519", parameters)
    else:
        key = RSAKey.import_key(rsa_numbers(), parameters)
    return {"public": key.as_dict(private=False), "private": key.as_dict(private=True)}


def sign(question):
    key = JWKRegistry.import_key(question["key"])
    return {"jwt": jwt.encode(question["header"], question["claims"], key, algorithms=ALGORITHMS)}


def verify(question):
    """The verification of a token with nothing but the key set."""
    token = jwt.decode(question["jwt"], KeySet.import_key_set(question["jwks"]), algorithms=ALGORITHMS)
    if question.get("typ") and token.header.get("typ") != question["typ"]:
        raise ValueError("another typ")
    expected = {"iss": question.get("issuer"), "aud": question.get("audience")}
    demanded = {claim: {"essential": True, "value": value} for claim, value in expected.items() if value}
    jwt.JWTClaimsRegistry(now=question["now"], **demanded).validate(token.claims)
    return {"claims": token.claims, "header": token.header}


def thumbprint(question):
    return {"thumbprint": JWKRegistry.import_key(question["key"]).thumbprint()}


ANSWERS = {"keys": keys, "sign": sign, "verify": verify, "thumbprint": thumbprint}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = ANSWERS[asked["do"]](asked)
    except Exception as why:  # Every reason for a refusal is one.
        answer = {"refused": repr(why)}
    print(json.dumps(answer), flush=True)
