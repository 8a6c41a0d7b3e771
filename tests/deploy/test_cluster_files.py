"""The certificates, etcd and PostgreSQL of deploy/cluster, on addresses of this machine."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import yaml

from tests.architecture.test_deploy import read_env_file
from tests.deploy.proxies import DEPLOY
from tests.postgres_server import binaries_with_tls, postgres_server
from tests.server.process import find_free_port, run_service
from tests.waiting import DEADLINE_SECONDS, until

CLUSTER = DEPLOY / "cluster"
ADDRESSES = ("127.0.0.1", "127.0.0.32", "127.0.0.33")
PASSWORD = "password-of-the-database"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    """The folder with the files of make-certificates."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificates")
    command = [str(CLUSTER / "make-certificates"), *ADDRESSES]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    return folder


class Etcd:
    """The members of a cluster; requests go to the first one, with a verified certificate."""

    def __init__(self, port: int, authority: Path) -> None:
        self._url = f"https://{ADDRESSES[0]}:{port}/v3/"
        self._tls = ssl.create_default_context(cafile=str(authority))

    def call(self, path: str, body: dict[str, Any], token: str = "") -> tuple[int, Any]:
        """(status, JSON) of a request to the JSON API, whose strings are in base64."""
        request = urllib.request.Request(self._url + path, json.dumps(body).encode())
        if token:
            request.add_header("Authorization", token)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls)
        )
        try:
            with opener.open(request, timeout=DEADLINE_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def put(self, key: str, token: str = "") -> int:
        """The status of a write."""
        encoded = base64.b64encode(key.encode()).decode()
        return self.call("kv/put", {"key": encoded, "value": ""}, token)[0]

    def is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            return self.put("/test") == 200
        return False


@pytest.fixture
def etcd(certificates: Path, tmp_path: Path) -> Iterator[Etcd]:
    """Three members with the file of deploy/cluster."""
    if not shutil.which("etcd"):
        pytest.skip("needs etcd")
    client_port, peer_port = find_free_port(), find_free_port()
    text = (CLUSTER / "etcd.env").read_text()
    for old, new in (
        (r":2379\b", f":{client_port}"),
        (r":2380\b", f":{peer_port}"),
        ("/etc/etcd", str(certificates)),
    ):
        text, count = re.subn(old, new, text)
        assert count, old
    with contextlib.ExitStack() as stack:
        for number, address in enumerate(ADDRESSES, 1):
            own = text.replace("NAME=db1", f"NAME=db{number}")
            own = own.replace("/var/lib/etcd", str(tmp_path / str(number)))
            own = re.sub(r"(URLS=https://)10\.0\.0\.31", rf"\g<1>{address}", own)
            for index, other in enumerate(ADDRESSES):
                own = own.replace(f"10.0.0.3{index + 1}", other)
            own = own.replace("server.", f"{address}.")
            environ = dict(re.findall(r"^(\w+)=(.*)$", own, re.M))
            log = stack.enter_context((tmp_path / f"{number}.log").open("wb"))
            process = subprocess.Popen(["etcd"], env=environ, stdout=log, stderr=log)
            stack.callback(process.wait, DEADLINE_SECONDS)
            stack.callback(process.kill)
        etcd = Etcd(client_port, certificates / "ca.pem")
        until(etcd.is_ready, "a majority of etcd")
        yield etcd


def test_etcd_accepts_patroni_only(etcd: Etcd):
    account = yaml.safe_load((CLUSTER / "patroni.yml").read_text())["etcd3"]
    prefix = {"key": "L3NlcnZpY2Uv", "rangeEnd": "L3NlcnZpY2Uw", "permType": "READWRITE"}
    for path, body in (
        ("user/add", {"name": "root", "password": "root"}),
        ("role/add", {"name": "root"}),
        ("user/grant", {"user": "root", "role": "root"}),
        ("user/add", {"name": account["username"], "password": account["password"]}),
        ("role/add", {"name": "patroni"}),
        ("role/grant", {"name": "patroni", "perm": prefix}),
        ("user/grant", {"user": account["username"], "role": "patroni"}),
        ("enable", {}),
    ):
        status, answer = etcd.call(f"auth/{path}", body)
        assert status == 200, answer
    assert etcd.put("/service/sigservice/leader") != 200
    credentials = {"name": account["username"], "password": account["password"]}
    status, answer = etcd.call("auth/authenticate", credentials)
    assert status == 200, answer
    assert etcd.put("/service/sigservice/leader", answer["token"]) == 200
    assert etcd.put("/other", answer["token"]) != 200
    assert etcd.call("auth/authenticate", credentials | {"password": "wrong"})[0] != 200


def test_service_uses_tls_with_the_database(certificates: Path):
    """With the access rules and parameters of patroni.yml, and the variables of sigservice.env."""
    patroni = yaml.safe_load((CLUSTER / "patroni.yml").read_text())
    rules = "\n".join(patroni["postgresql"]["pg_hba"])
    rules = rules.replace("10.0.0.0/24", "127.0.0.0/8").replace("postgres peer", "postgres trust")
    parameters = patroni["bootstrap"]["dcs"]["postgresql"]["parameters"]
    settings = {name: value for name, value in parameters.items() if name.startswith("ssl")}
    settings = {n: v.replace("/etc/patroni", "..") for n, v in settings.items()}
    files = {
        f"server.{kind}": (certificates / f"127.0.0.1.{kind}").read_bytes()
        for kind in ("pem", "key")
    }
    environ = {
        name: value.replace("/etc/ssl/sigservice-ca.pem", str(certificates / "ca.pem"))
        for name, value in read_env_file(CLUSTER / "sigservice.env").items()
        if name.startswith("DATABASE_")
    }
    with postgres_server(binaries_with_tls(), hba=rules, settings=settings, files=files) as server:
        server.ask(f"CREATE ROLE sigservice LOGIN PASSWORD '{PASSWORD}'")
        server.ask("CREATE DATABASE sigservice OWNER sigservice")
        environ |= {
            "DATABASE_HOST": "127.0.0.1",
            "DATABASE_PORT": str(server.port),
            "DATABASE_PASSWORD": PASSWORD,
        }
        with run_service(environ) as service:
            assert service.request("GET", "/ready")[0] == 200
            sessions = server.ask(
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                " WHERE usename = 'sigservice'"
            )
            assert set(sessions) == {(True,)}
        with pytest.raises(psycopg2.OperationalError, match="no encryption"):
            psycopg2.connect(
                host="127.0.0.1",
                port=server.port,
                dbname="sigservice",
                user="sigservice",
                password=PASSWORD,
                sslmode="disable",
            )
