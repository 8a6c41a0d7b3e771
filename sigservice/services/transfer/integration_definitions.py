"""An integration in a file of `sigservice export`, or of another server."""

from typing import Any

import msgspec


class IntegrationDefinition(msgspec.Struct, omit_defaults=True):
    """`source` is the installation or server and its ID there. Masked parameters are secrets that
    are set there."""

    source: str
    provider: str
    events: list[str]
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] = {}
    projects: list[str] = []
    environments: list[str] = []

    @property
    def label(self) -> str:
        """For example webhook "Announce"."""
        text = self.name or self.description
        return f'{self.provider} "{text}"' if text else self.provider
