"""The proxies of deploy/ as real processes, with a certificate of the test's own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.server.process import Process, create_open_folder, find_free_port
from tests.waiting import until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
HOST = "flags.example.com"
FILES = {
    "nginx": "nginx/sigservice.conf",
    "haproxy": "haproxy/single-process.cfg",
    "haproxy for processes": "haproxy/several-processes.cfg",
    "haproxy for machines": "cluster/haproxy.cfg",
}
# Less than the 15 s until the first ping, which would push the event through a buffer.
PROMPT_SECONDS = 10
# Debian's nginx.conf logs requests too, unless a server has logs of its own.
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log stderr;
events {{ }}
http {{
    access_log {folder}/default.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/sigservice.conf;
}}
"""


class Proxy:
    """A proxy: its number in FILES, its folder, its ports and its process.
    HAProxy sends requests of Let's Encrypt to `certbot_port`, and if there are two HAProxys to
    `other_certbot_port`."""

    def __init__(self, name: str, folder: Path, upstream: Process, authority: trustme.CA) -> None:
        self.number = list(FILES).index(name) + 1
        self.folder, self.upstream = folder, upstream
        self.https_port, self.http_port = find_free_port(), find_free_port()
        self.certbot_port, self.other_certbot_port = find_free_port(), find_free_port()
        self._authority, self.pid = authority, 0
        self._tls = ssl.create_default_context()
        authority.configure_trust(self._tls)

    def connect(self, address: str = "127.0.0.2") -> ssl.SSLSocket:
        """A TLS connection from `address` that has verified the certificate."""
        sock = socket.create_connection(
            ("127.0.0.1", self.https_port), PROMPT_SECONDS, source_address=(address, 0)
        )
        return self._tls.wrap_socket(sock, server_hostname=HOST)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        address: str = "127.0.0.2",
        **headers: str,
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """(status, headers, text) of a request from `address`; `body` is JSON or a form's text."""
        fields = {name.replace("_", "-"): text for name, text in headers.items()} | {"Host": HOST}
        if body is not None and not isinstance(body, str):
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        connection = http.client.HTTPConnection(HOST)
        connection.sock = self.connect(address)
        return _exchange(connection, method, path, body, fields)

    def request_plain(
        self, path: str, method: str = "GET"
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """(status, headers, text) of a request without TLS."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=PROMPT_SECONDS)
        return _exchange(connection, method, path, None, {"Host": HOST})

    def read_logs(self) -> str:
        """What it has logged."""
        return "".join(file.read_text() for file in self.folder.glob("*.log"))

    def read_serial_number(self) -> str:
        """The serial number of the certificate that it serves."""
        with self.connect() as sock:
            return str((sock.getpeercert() or {})["serialNumber"])

    def write_certificate(self) -> None:
        """Writes a new certificate, as certbot does."""
        certificate = self._authority.issue_cert(HOST)
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        (self.folder / "fullchain.pem").write_bytes(chain)
        (self.folder / "privkey.pem").write_bytes(certificate.private_key_pem.bytes())

    def run_deploy_hook(self, reload: str) -> None:
        """Does what the hook of certbot does, with `reload` as command instead of systemctl's."""
        text = reload
        if self.number > 1:
            text = (DEPLOY / "haproxy" / "install-certificate").read_text()
            text = text.replace("systemctl reload haproxy", reload)
            text = text.replace("/etc/haproxy", str(self.folder))
        environ = os.environ | {"RENEWED_LINEAGE": str(self.folder)}
        subprocess.run(["sh", "-c", text], env=environ, check=True, timeout=PROMPT_SECONDS)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: str | None,
    headers: dict[str, str],
) -> tuple[int, http.client.HTTPMessage, str]:
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


@contextlib.contextmanager
def run_proxy(name: str, upstream: Process) -> Iterator[Proxy]:
    """Runs the proxy with a file of FILES, in front of `upstream`."""
    program_name = name.split()[0]
    program = shutil.which(program_name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip(f"{program_name} is not installed")
    with create_open_folder() as folder:
        proxy = Proxy(name, folder, upstream, trustme.CA())
        proxy.write_certificate()
        proxy.run_deploy_hook(reload="true")
        arguments = _write_files(proxy, name)
        with (folder / "output.log").open("wb") as log:
            process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        proxy.pid = process.pid
        try:
            until(lambda: _is_ready(proxy, process), f"{name} to pass on requests")
            yield proxy
        finally:
            process.terminate()
            process.wait(PROMPT_SECONDS)


def _is_ready(proxy: Proxy, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, proxy.read_logs()
    with contextlib.suppress(OSError):
        return proxy.request("GET", "/health")[0] == 200
    return False


def _write_files(proxy: Proxy, name: str) -> list[str]:
    """Writes the configuration with ports and files of the test; returns the arguments."""
    folder, is_nginx = proxy.folder, name == "nginx"
    text = (DEPLOY / FILES[name]).read_text()
    replacements = [
        (r"127\.0\.0\.1:(4242|4301)|10\.0\.0\.21:4242", f"127.0.0.1:{proxy.upstream.port}"),
        (r"(listen (?:\[::\]:)?|bind :::)443\b", rf"\g<1>{proxy.https_port}"),
        (r"(listen (?:\[::\]:)?|bind :::)80\b", rf"\g<1>{proxy.http_port}"),
    ]
    if is_nginx:
        replacements.append((rf"/etc/letsencrypt/live/{HOST}", str(folder)))
        replacements.append(("/var/log/nginx", str(folder)))
        replacements.append(("/var/www/html", str(folder)))
    else:
        replacements.append((rf"/etc/haproxy/{HOST}\.pem", str(folder / f"{HOST}.pem")))
        replacements.append((r"log /dev/log local0", "log stdout format raw local0"))
        replacements.append((r"    (user|group) .*\n", ""))
        pattern = r"(127\.0\.0\.1|10\.0\.0\.12):8888"
        replacements.append((pattern, f"127.0.0.1:{proxy.certbot_port}"))
    for pattern, replacement in replacements:
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    text = text.replace("10.0.0.11:8888", f"127.0.0.1:{proxy.other_certbot_port}")
    # The other machines and processes don't exist.
    text = re.sub(r" *server n\w+ (10\.0\.0\.2|127\.0\.0\.1:4302).*\n", "", text)
    text = re.sub(r"10\.0\.0\.\d+:\d+", "127.0.0.1:1", text)
    text = text.replace("/run/haproxy", str(folder)).replace("port 8008", "port 1")
    text = text.replace("bind :5432", f"bind 127.0.0.1:{find_free_port()}")
    (folder / "sigservice.conf").write_text(text)
    if not is_nginx:
        return ["-W", "-db", "-f", str(folder / "sigservice.conf")]
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder))
    return ["-c", str(folder / "nginx.conf")]
