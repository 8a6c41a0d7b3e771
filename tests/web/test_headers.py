"""Strict-Transport-Security binds the host alone unless the configuration says more."""

from __future__ import annotations

from typing import Any

import pytest

from sigservice.config import load_config
from sigservice.web.headers import build_header_sets

NAME = "Strict-Transport-Security"
OWN = "max-age=31536000; includeSubDomains; preload"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"SERVICE_STRICT_TRANSPORT_SECURITY": OWN}, None),
        ({"SECURE_HEADERS": "true"}, "max-age=63072000"),
        ({"SECURE_HEADERS": "true", "SERVICE_STRICT_TRANSPORT_SECURITY": OWN}, OWN),
    ],
)
def test_transport_security_of_api_and_pages(environ: dict[str, str], expected: Any):
    for headers in build_header_sets(load_config(None, environ).config):
        assert dict(headers).get(NAME) == expected
