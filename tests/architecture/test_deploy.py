"""The files of deploy/ and of the image name variables and values that the service has."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
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


def read_unit(name: str) -> dict[str, str]:
    text = (ROOT / "deploy/systemd" / name).read_text().replace("%S", "/var/lib")
    return dict(re.findall(r"\b([A-Z]+_[A-Z_]+)=(\S+)", text.replace("%i", "4301")))


@pytest.mark.parametrize(
    "environ",
    [
        read_env_file(ROOT / "deploy/systemd/sigservice.env"),
        read_compose("compose.yaml"),
        read_compose("compose.yaml", "compose.postgresql.yaml"),
        read_image(),
        read_unit("sigservice.service"),
        read_unit("sigservice@.service"),
    ],
    ids=["env file", "compose", "compose with PostgreSQL", "image", "unit", "template unit"],
)
def test_variables_are_options(environ: dict[str, str]):
    assert environ
    password = {"SERVICE_DEFAULT_ADMIN_PASSWORD": "correct horse battery staple 1"}
    if "SERVICE_DEFAULT_ADMIN_USERNAME" in environ:
        environ = environ | {"SERVICE_DEFAULT_ADMIN_USERNAME": "admin"} | password
    loaded = load_config(None, environ)
    names = {
        name for source in loaded.sources.values() for name in re.findall(r"[A-Z_]{4,}", source)
    }
    set_names = {name for name, value in environ.items() if value}
    assert set_names - names == set(), loaded.warnings


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
