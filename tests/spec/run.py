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
        service = sigservice.start(json.loads(options, object_hook=_resolve))
    except (ConfigError, StartError) as error:
        sys.exit(f"this program: {error}")
    sys.stdout.write("\n".join([*service.describe(), *service.warnings]) + "\n")
    sys.stdout.flush()
    service.wait()


def start_several(cases: str) -> None:
    """Starts a service for each [environment, options] and keeps them running. Prints each
    description, or the error of the start."""
    messages, services = {}, []
    for name, (environ, options) in json.loads(cases).items():
        try:
            services.append(sigservice.start(options, environ))
            messages[name] = [*services[-1].describe(), *services[-1].warnings]
        except (StartError, ConfigError) as error:
            messages[name] = [f"{type(error).__name__}: {error}"]
    sys.stdout.write(json.dumps(messages) + "\n")
    sys.stdout.flush()
    threading.Event().wait()


def _resolve(value: dict[str, Any]) -> Any:
    return getattr(callables, value["call"]) if value.keys() == {"call"} else value
