"""The files of deploy/ and of the image name variables and values that the service has."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
import trustme
import yaml

from sigservice.config import load_config

ROOT = Path(__file__).resolve().parents[2]
DEFAULTED = re.compile(r"\$\{\w+(?::-(?P<default>[^}]*)|:\?[^}]*)\}")


def read_env_file(file: Path) -> dict[str, str]:
    """The assignments, also those in comments, which a user removes."""
    lines = re.findall(r"^#?([A-Z_]+)=(.*)$", file.read_text(), re.M)
    return dict(lines)


def read_compose(*names: str) -> dict[str, str]:
    """The environment of the service, with the defaults of its variables."""
    environ: dict[str, str] = {}
    for name in names:
        service = yaml.safe_load((ROOT / name).read_text())["services"]["sigservice"]
        environ |= service["environment"]
    return {name: DEFAULTED.sub(lambda m: m["default"] or "", v) for name, v in environ.items()}


def read_image() -> dict[str, str]:
    (block,) = re.findall(r"^ENV (.*?[^\\])$", (ROOT / "Dockerfile").read_text(), re.M | re.S)
    pairs = dict(pair.split("=", 1) for pair in block.replace("\\\n", " ").split())
    return {name: value for name, value in pairs.items() if not name.startswith(("PATH", "PYTHON"))}


def read_kubernetes() -> dict[str, str]:
    documents = yaml.safe_load_all((ROOT / "deploy/kubernetes/sigservice.yaml").read_text())
    (pod,) = (it["spec"]["template"]["spec"] for it in documents if it["kind"] == "StatefulSet")
    assert f"--uid {pod['securityContext']['runAsUser']} " in (ROOT / "Dockerfile").read_text()
    return {variable["name"]: variable["value"] for variable in pod["containers"][0]["env"]}


def read_unit(name: str) -> dict[str, str]:
    text = (ROOT / "deploy/systemd" / name).read_text().replace("%S", "/var/lib")
    return dict(re.findall(r"\b([A-Z]+_[A-Z_]+)=(\S+)", text.replace("%i", "4301")))


@pytest.mark.parametrize(
    "environ",
    [
        read_env_file(ROOT / "deploy/systemd/sigservice.env"),
        read_env_file(ROOT / "deploy/cluster/sigservice.env"),
        read_compose("compose.yaml"),
        read_compose("compose.yaml", "compose.postgresql.yaml"),
        read_image(),
        read_kubernetes(),
        read_unit("sigservice.service"),
        read_unit("sigservice@.service"),
    ],
    ids=[
        "env file",
        "cluster",
        "compose",
        "compose with PostgreSQL",
        "image",
        "kubernetes",
        "unit",
        "template unit",
    ],
)
def test_variables_are_options(environ: dict[str, str], tmp_path: Path):
    assert environ
    if "DATABASE_SSL_CA_FILE" in environ:
        file = tmp_path / "ca.pem"
        file.write_bytes(trustme.CA().cert_pem.bytes())
        environ = environ | {"DATABASE_SSL_CA_FILE": str(file)}
    password = {"SERVICE_DEFAULT_ADMIN_PASSWORD": "correct horse battery staple 1"}
    if "SERVICE_DEFAULT_ADMIN_USERNAME" in environ:
        environ = environ | {"SERVICE_DEFAULT_ADMIN_USERNAME": "admin"} | password
    loaded = load_config(None, environ)
    names = {
        name for source in loaded.sources.values() for name in re.findall(r"[A-Z_]{4,}", source)
    }
    set_names = {name for name, value in environ.items() if value}
    assert set_names - names == set(), loaded.warnings


@pytest.mark.parametrize("name", ["systemd", "cluster"])
def test_sample_environment_protects_the_metrics(name: str):
    text = (ROOT / "deploy" / name / "sigservice.env").read_text()
    assert re.search(r"^#.*openssl rand -hex 32.*\nSERVICE_METRICS_TOKEN=$", text, re.M)


def test_units_protect_the_same():
    units = []
    for name in ("sigservice.service", "sigservice@.service"):
        unit = configparser.RawConfigParser(strict=False, allow_no_value=True)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read(ROOT / "deploy/systemd" / name)
        units.append(dict(unit["Service"]))
    for unit in units:
        for own in ("Environment", "EnvironmentFile", "ExecStart", "KillMode"):
            unit.pop(own, None)
    assert units[0] == units[1]


def test_files_that_pages_copy_exist():
    for page in (ROOT / "docs").glob("*.md"):
        for path in re.findall(r"\bdeploy/[\w./@*-]*[\w*]", page.read_text()):
            assert list(ROOT.glob(path)), f"{page.name}: {path}"


def read_servers(backend: str) -> list[str]:
    """The addresses of the servers of a backend of deploy/cluster/haproxy.cfg."""
    text = (ROOT / "deploy/cluster/haproxy.cfg").read_text()
    (section,) = re.findall(rf"^(?:backend|listen) {backend}$(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    return re.findall(r"^    server \w+ (\S+)", section, re.M)


def test_files_of_the_cluster_name_the_same_machines():
    environ = read_env_file(ROOT / "deploy/cluster/sigservice.env")
    patroni = yaml.safe_load((ROOT / "deploy/cluster/patroni.yml").read_text())
    databases = environ["DATABASE_HOST"].split(",")
    assert read_servers("postgres") == [f"{host}:5432" for host in databases]
    assert patroni["etcd3"]["hosts"] == [f"{host}:2379" for host in databases]
    etcd = read_env_file(ROOT / "deploy/cluster/etcd.env")
    peers = [f"db{n}=https://{host}:2380" for n, host in enumerate(databases, 1)]
    assert etcd["ETCD_INITIAL_CLUSTER"].split(",") == peers
    assert etcd["ETCD_LISTEN_CLIENT_URLS"] == f"https://{databases[0]}:2379"
    assert patroni["postgresql"]["listen"] == read_servers("postgres")[0]
    assert patroni["restapi"]["listen"] == f"{databases[0]}:8008"
    nodes = read_servers("writes")
    assert nodes == read_servers("reads")
    assert nodes[0] == f"{environ['HTTP_HOST']}:{environ['HTTP_PORT']}"
    connections = len(nodes) * (int(environ["DATABASE_POOL_MAX"]) + 1)
    shared = patroni["bootstrap"]["dcs"]
    assert connections < shared["postgresql"]["parameters"]["max_connections"] / 2
    # Patroni's rule for its times: docs/dynamic_configuration of Patroni.
    assert shared["ttl"] >= shared["loop_wait"] + 2 * shared["retry_timeout"]
    assert shared["synchronous_mode"]
    assert shared["synchronous_mode_strict"]
    assert patroni["watchdog"]["mode"] == "required"


def test_files_of_haproxy_choose_processes_in_the_same_way():
    names = ("haproxy/several-processes.cfg", "cluster/haproxy.cfg")
    rules = [
        re.findall(
            r"^    (?:http-request|acl|use_backend|balance|hash-type|http-check|retr).*$",
            (ROOT / "deploy" / name).read_text().partition("# certbot")[0],
            re.M,
        )
        for name in names
    ]
    assert rules[0] == rules[1]
