"""An operator with a web site over real TLS, under a certificate authority of the test's own."""

from __future__ import annotations

import datetime
import http.server
import json
import ssl
import threading
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from countersign.jws import OperatorKey, SigningKey

DOMAIN = "acme.test"


def certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, issuer_key: ec.EllipticCurvePrivateKey, authority: bool
) -> bytes:
    """A certificate as PEM, valid for a day around now."""
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
    builder = (
        x509.CertificateBuilder()
        .subject_name(names[0])
        .issuer_name(names[1])
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class Site:
    """Serves documents, and records every request with its body. Without `tls` it is an API."""

    def __init__(self, documents: dict[str, Any], tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                length = int(self.headers.get("content-length", 0))
                site.requests.append((self.command, self.path, self.rfile.read(length)))
                document = documents.get(self.path)
                body = json.dumps(document if document is not None else {"error": "no such page"}).encode()
                self.send_response(404 if document is None else 201 if self.command == "POST" else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Operator(OperatorKey):
    """acme.test: its key, its published documents, and receipts as it would issue them after asking the person."""

    def __init__(self, folder: Path) -> None:
        self.signing_key = SigningKey.generate()
        super().__init__(DOMAIN, "key-1", self.signing_key)
        keys = [{**self.signing_key.jwk(), "kid": "key-1", "alg": "ES256", "use": "sig"}]
        identity = {
            "operator": "Acme",
            "domain": DOMAIN,
            "contact": f"security@{DOMAIN}",
            "signing_keys": f"https://{DOMAIN}/.well-known/agent-jwks.json",
        }
        documents = {"/.well-known/agent-identity.json": identity, "/.well-known/agent-jwks.json": {"keys": keys}}
        self.site = Site(documents, self._tls(folder))

    def _tls(self, folder: Path) -> ssl.SSLContext:
        authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        (folder / "ca.pem").write_bytes(certificate("Test CA", authority, "Test CA", authority, True))
        pem = own.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / "site.pem").write_bytes(certificate(DOMAIN, own, "Test CA", authority, False) + pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "site.pem")
        return context

    def receipt(self, claims: dict[str, Any]) -> str:
        now = int(datetime.datetime.now().timestamp())
        usual = {
            "iss": DOMAIN,
            "intent": "withheld",
            "consent_method": "explicit_ui",
            "iat": now,
            "exp": now + 3600,
            "usage_limits": {"requests_per_hour": 100, "writes_per_session": 5},
        }
        return self.signing_key.sign({"alg": "ES256", "kid": "key-1", "typ": "aap-consent+jwt"}, {**usual, **claims})
