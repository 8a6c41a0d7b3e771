"""requirements/runtime.txt pins all that the service runs on, as setup.cfg allows it."""

from __future__ import annotations

import re
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def read_pins() -> dict[str, str]:
    """The lines of each package, by name: name, version and marker, then its hashes."""
    text = (ROOT / "requirements/runtime.txt").read_text()
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return {line.partition("==")[0]: line for line in text.splitlines()}


def read_direct() -> list[Requirement]:
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"]
    return [Requirement(line) for line in lines.splitlines() if line.strip()]


PINS = read_pins()


@pytest.mark.parametrize("requirement", read_direct(), ids=lambda one: one.name)
def test_each_dependency_is_pinned_in_its_range(requirement):
    pinned = Requirement(PINS[canonicalize_name(requirement.name)].partition("--hash")[0])
    (pin,) = pinned.specifier
    assert pin.operator == "=="
    assert requirement.specifier.contains(pin.version)


def test_what_dependencies_need_is_pinned_too():
    """By what is installed here; optional parts of packages that nothing asks for don't count."""
    waiting, names = read_direct(), set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        assert name in PINS
        if name not in names:
            names.add(name)
            try:
                waiting += map(Requirement, requires(name) or ())
            except PackageNotFoundError:
                pass
    assert len(names) > 15


def test_each_pin_has_hashes_and_nothing_names_a_place():
    for name, line in PINS.items():
        rest = line.partition("--hash")[2]
        hashes = re.findall(r"=sha256:[0-9a-f]{64}\b", rest)
        assert hashes, name
        assert rest.replace("--hash", "").split() == hashes, name


def test_test_modules_can_be_collected_without_the_extra_dev():
    """The README's tests and `pytest -m account` run with the extra test alone."""
    imports_one = re.compile(r"^(?:from|import) (?:hypothesis|playwright|schemathesis)\b", re.M)
    for path in (ROOT / "tests").rglob("*.py"):
        before_import, *rest = imports_one.split(path.read_text(), maxsplit=1)
        assert not rest or "importorskip(" in before_import, path
