"""Starts the service with in-code options, as a program that embeds it would.

A value {"call": "name"} stands for that function of tests/spec/callables.py.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import sigservice
from sigservice.errors import ConfigError, StartError
from tests.spec import callables


def main(options: str) -> None:
    try:
        service = sigservice.start(json.loads(options, object_hook=_resolved))
    except (ConfigError, StartError) as error:
        sys.exit(f"this program: {error}")
    sys.stdout.write("\n".join(service.describe()) + "\n")
    sys.stdout.flush()
    service.wait()


def several(cases: str) -> None:
    """Starts a service for each [environment, options], prints what each says, or why it does not
    start, and holds them all."""
    said, held = {}, []
    for name, (environ, options) in json.loads(cases).items():
        try:
            held.append(sigservice.start(options, environ))
            said[name] = held[-1].describe()
        except (StartError, ConfigError) as error:
            said[name] = [f"{type(error).__name__}: {error}"]
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    threading.Event().wait()


def _resolved(found: dict[str, Any]) -> Any:
    return getattr(callables, found["call"]) if found.keys() == {"call"} else found
