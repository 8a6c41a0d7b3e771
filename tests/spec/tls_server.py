"""A PostgreSQL with TLS, its certificates and roles.

`app` can connect with and without TLS, `secure` only with TLS, `certain` with its certificate, and
`both` with password and certificate. The certificate of the server is for 127.0.0.1 and localhost;
it also listens on 127.0.0.2.
"""

from __future__ import annotations

import ipaddress
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tests.postgres_server import PostgresServer, binaries_with_tls, postgres_server
from tests.server.process import Process, until
from tests.spec.database_fixtures import write_files
from tests.spec.kit import ADMIN_SECRET, script_for

HBA = """
local all postgres trust
hostssl all certain 127.0.0.0/8 cert
hostssl all both 127.0.0.0/8 scram-sha-256 clientcert=verify-full
hostssl all secure 127.0.0.0/8 scram-sha-256
host all app 127.0.0.0/8 scram-sha-256
"""
ROLES = ("app", "secure", "certain", "both")
SETTINGS = {
    "ssl": "on",
    "ssl_cert_file": "../server.pem",
    "ssl_key_file": "../server.key",
    "ssl_ca_file": "../ca.pem",
}


class TlsServer:
    """`ca` signs the certificates of server and clients; `other_ca` is not trusted."""

    def __init__(self, stack: ExitStack) -> None:
        ca, other = trustme.CA(), trustme.CA()
        of_server = ca.issue_cert("127.0.0.1", "localhost")
        self.ca, self.other_ca = _text(ca.cert_pem), _text(other.cert_pem)
        self.clients = {name: _client(ca, name) for name in ("certain", "both")}
        self.foreign_client = _client(other, "certain")
        contents = {
            "server.pem": "".join(map(_text, of_server.cert_chain_pems)).encode(),
            "server.key": of_server.private_key_pem.bytes(),
            "ca.pem": ca.cert_pem.bytes(),
        }
        self._stack, self._files = stack, contents
        # Services that are killed at the end leave their private files.
        self.temporary = stack.enter_context(tempfile.TemporaryDirectory())
        self.server: PostgresServer = stack.enter_context(
            postgres_server(binaries_with_tls(), hba=HBA, settings=SETTINGS, files=contents)
        )
        for role in ROLES:
            self.server.ask(f"CREATE ROLE \"{role}\" LOGIN PASSWORD 'hunter2'")
            self.server.ask(f'CREATE DATABASE "{role}" OWNER "{role}"')
        self.locked_key = _locked(self.clients["certain"]["key"])
        texts = {"ca": self.ca, "other": self.other_ca, **self.clients["certain"]}
        self.config = json.dumps(
            {"rejectUnauthorized": True, "ca": self.ca, **self.clients["certain"]}
        )
        self.files = stack.enter_context(write_files(**texts, config=self.config))

    def environ(self, user: str = "app", host: str = "127.0.0.1", **more: str) -> dict[str, str]:
        """The variables that connect to it."""
        return {
            "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
            "TMPDIR": self.temporary,
            "DATABASE_HOST": host,
            "DATABASE_PORT": str(self.server.port),
            "DATABASE_USERNAME": user,
            "DATABASE_PASSWORD": "hunter2",
            "DATABASE_NAME": user,
        } | more

    def start_service(
        self, environ: Mapping[str, str], options: Mapping[str, Any] | None = None
    ) -> Process:
        process = Process(environ, script_for(options or {}))
        self._stack.callback(process.close)
        return process

    @contextmanager
    def self_signed(self) -> Iterator[str]:
        """Installs a self-signed certificate during the block and yields its text."""
        certificate, key = _self_signed()
        try:
            self._install({"server.pem": certificate, "server.key": key})
            yield certificate.decode()
        finally:
            self._install(self._files)

    def _install(self, contents: Mapping[str, bytes]) -> None:
        """Replaces the certificate and reloads the server."""
        for name in ("server.pem", "server.key"):
            (self.server.folder / name).write_bytes(contents[name])
        before = self._loaded()
        self.server.ask("SELECT pg_reload_conf()")
        until(lambda: self._loaded() != before, "the reload")

    def _loaded(self) -> Any:
        """The time of the last reload."""
        with closing(self.server.connect()) as conn, conn.cursor() as cursor:
            cursor.execute("SELECT pg_conf_load_time()")
            return cursor.fetchone()

    def list_sessions(self, name: str) -> list[tuple[bool, str | None]]:
        """(uses TLS, name of the client certificate) of the sessions of this application name."""
        return self.server.ask(
            "SELECT DISTINCT ssl, substring(client_dn FROM 'CN=(.*)') FROM pg_stat_ssl"
            " JOIN pg_stat_activity USING (pid) WHERE application_name = %s",
            name,
        )


@contextmanager
def run_tls_server() -> Iterator[TlsServer]:
    with ExitStack() as stack:
        yield TlsServer(stack)


def _client(ca: trustme.CA, name: str) -> dict[str, str]:
    certificate = ca.issue_cert(f"{name}@example.com", common_name=name)
    chain = "".join(map(_text, certificate.cert_chain_pems))
    return {"cert": chain, "key": _text(certificate.private_key_pem)}


def _locked(key: str) -> str:
    """The key, encrypted with a passphrase."""
    plain = load_pem_private_key(key.encode(), None)
    how = (Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hunter2"))
    return plain.private_bytes(*how).decode()


def _self_signed() -> tuple[bytes, bytes]:
    """A certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "database")])
    today = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM), key.private_bytes(*plain)


def _text(blob: trustme.Blob) -> str:
    return blob.bytes().decode()
