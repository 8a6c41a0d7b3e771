"""The two sides of the flags' tests: who changes them and what SDKs see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import webtest

from sigservice.application.service import Service
from sigservice.testing import TemporaryDatabase
from tests.conftest import ADMIN_TOKEN, MakeService
from tests.routes.kit import Admin
from tests.routes.sdk import Sdk


@pytest.fixture
def sdk(make_service: MakeService, database: TemporaryDatabase) -> Iterator[Sdk]:
    client = Sdk(make_service, database)
    yield client
    client.close()


@pytest.fixture
def admin(service: Service) -> Admin:
    return Admin(service)


@pytest.fixture
def make_site(make_service):
    """`make_site("demo", …)`: a browser of a service with this authentication type."""

    def make(kind, environ=None, **more):
        block = {
            "type": kind,
            "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
            "initApiTokens": [
                {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
            ],
        }
        options = {name: more.pop(name) for name in ("server", "getLogger") if name in more}
        return webtest.TestApp(
            make_service({"authentication": block | more, **options}, environ or {}).app
        )

    return make
