"""HAProxy accepts the files of deploy/ as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.haproxy import check_configuration
from tests.server.process import ROOT

FILES = ("haproxy/single-process.cfg", "haproxy/several-processes.cfg", "cluster/haproxy.cfg")


@pytest.mark.parametrize("name", FILES)
def test_haproxy_accepts_the_file(name: str, tmp_path: Path):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl for a certificate")
    certificate = tmp_path / "certificate.pem"
    command = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=localhost"
    files = ["-keyout", str(certificate), "-out", str(tmp_path / "part.pem")]
    subprocess.run([openssl, *command.split(), *files], check=True, capture_output=True, timeout=60)
    certificate.write_text(certificate.read_text() + (tmp_path / "part.pem").read_text())
    text = (ROOT / "deploy" / name).read_text()
    text = re.sub(r"/etc/haproxy/\S+\.pem", str(certificate), text)
    check_configuration(text.replace("/run/haproxy/admin.sock", str(tmp_path / "admin.sock")))
