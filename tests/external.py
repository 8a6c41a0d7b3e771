"""The marker `external`: real processes, browsers, proxies and SDKs, kills, large tables, and most
inputs of the tests that try many (tests/samples.py).

`pytest` without a path runs all others; a path, `-m external` or `.ci/run` runs these too. A test
without the marker can't start a process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import samples

FOLDERS = (
    "tests/browser/",
    "tests/deploy/",
    "tests/fuzz/",
    "tests/sdk/",
    "tests/server/",
    "tests/spec/",
)
DEFAULT = "not external"  # the marker expression of a run without a path
SHARED_FIXTURE = "temporary_database"  # its server runs until the end of the run
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_state = {"test": ""}  # the test without the marker that runs now


def pytest_configure(config: pytest.Config) -> None:
    if config.args_source != pytest.Config.ArgsSource.ARGS and not config.option.markexpr:
        config.option.markexpr = DEFAULT
    samples.leaves_others_out = config.option.markexpr == DEFAULT


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whole folders aren't even imported."""
    path = f"{collection_path.relative_to(config.rootpath).as_posix()}/"
    return (config.option.markexpr == DEFAULT and path in FOLDERS) or None


@pytest.hookimpl(tryfirst=True)  # before the marker expression deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(FOLDERS):
            item.add_marker(pytest.mark.external)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with _set_test("" if item.get_closest_marker("external") else item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    with _set_test("" if fixturedef.argname == SHARED_FIXTURE else _state["test"]):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    with _set_test(_state["test"] if nextitem else ""):
        return (yield)


@contextmanager
def _set_test(name: str) -> Iterator[None]:
    before, _state["test"] = _state["test"], name
    try:
        yield
    finally:
        _state["test"] = before


def refuse_process(event: str, _arguments: tuple[Any, ...]) -> None:
    """An audit hook. Raises RuntimeError when a test without the marker starts a process."""
    if event in STARTS and _state["test"]:
        raise RuntimeError(f"{_state['test']} starts a process: mark it with pytest.mark.external")


sys.addaudithook(refuse_process)
