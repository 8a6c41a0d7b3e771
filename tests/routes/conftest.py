"""The two sides of the flags' tests: who changes them and what SDKs see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sigservice.server import Service
from sigservice.testing import TemporaryDatabase
from tests.conftest import MakeService
from tests.routes.kit import Admin
from tests.routes.sdk import Sdk


@pytest.fixture
def sdk(make_service: MakeService, database: TemporaryDatabase) -> Iterator[Sdk]:
    made = Sdk(make_service, database)
    yield made
    made.close()


@pytest.fixture
def admin(service: Service) -> Admin:
    return Admin(service)
