"""One test over a table: pytest itself costs more for a test than a check of one row."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each(arguments: str, items: Iterable[Any], name: Callable[[Any], str] = str) -> Any:
    """Calls the test with each item as this argument, or with the parts of each item as these
    arguments ("value expected"). Fails with all failures, by item name."""
    names, table = arguments.split(), list(items)
    assert table

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def test_all(**fixtures: Any) -> None:
            failures = []
            for item in table:
                values = item if len(names) > 1 else [item]
                try:
                    test(**fixtures, **dict(zip(names, values, strict=True)))
                except Exception as error:  # noqa: BLE001  shown by the group
                    error.add_note(f"of {name(item)}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} fail", failures)

        signature = inspect.signature(test)
        others = [p for p in signature.parameters.values() if p.name not in names]
        test_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test_all

    return decorate
