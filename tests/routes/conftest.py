"""The admin of the tests of flags."""

from __future__ import annotations

import pytest

from sigservice.server import Service
from tests.routes.kit import Admin


@pytest.fixture
def admin(service: Service) -> Admin:
    return Admin(service)
