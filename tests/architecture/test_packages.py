"""setup.cfg lists each package, so that the wheel has all of them."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_setup_lists_every_package():
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    packages = {name for name in parser["options"]["packages"].split() if "._" not in name}
    files = (ROOT / "sigservice").rglob("__init__.py")
    assert {".".join(file.parent.relative_to(ROOT).parts) for file in files} == packages
