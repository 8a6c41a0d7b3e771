"""What tests of the SDKs' side share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sigservice.testing import TemporaryDatabase
from tests.conftest import MakeService
from tests.routes.sdk import Sdk


@pytest.fixture
def sdk(make_service: MakeService, database: TemporaryDatabase) -> Iterator[Sdk]:
    made = Sdk(make_service, database)
    yield made
    made.close()
