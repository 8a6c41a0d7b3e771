"""A self-hosted feature flag service with signals and actions.

service = sigservice.create(options)    # build and migrate; service.app is a WSGI callable
service = sigservice.start(options)     # create, then listen
service.stop()                          # a stopped service can't be started again
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sigservice.version import __version__

__all__ = ["__version__", "create", "start"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigservice.application.service import Service
    from sigservice.clock import Clock
    from sigservice.crypto.secrets import Passwords


def create(
    options: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    clock: Clock | None = None,
    passwords: Passwords | None = None,
) -> Service:
    """A service that doesn't listen; see `sigservice.application.start.create`."""
    from sigservice.application.start import (
        create,  # imported late: packaging reads only the version above
    )

    return create(options, environ, clock=clock, passwords=passwords)


def start(
    options: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Service:
    """A service that listens; see `sigservice.application.start.start`."""
    from sigservice.application.start import start

    return start(options, environ)
