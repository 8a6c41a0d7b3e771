"""A listener without a service."""

from __future__ import annotations

from typing import Any

from sigservice.http_server.http_parsing import BodyPermit
from sigservice.http_server.listener import Callbacks, Listener
from sigservice.log import build_line_loggers


def build_callbacks() -> Callbacks:
    """An application without large bodies, kinds of requests and limits of addresses."""
    return Callbacks(
        build_refusal_headers=lambda path, origin: [],
        log_refusal=lambda method, path, status: None,
        decide_body=lambda method, path, query, headers, peer: BodyPermit(0, False, peer),
        make_connection_key=lambda peer: "",
    )


def build_listener(app: Any, config: dict[str, Any]) -> Listener:
    logger = build_line_loggers("error")("test")
    return Listener(app, config, logger, build_callbacks(), 4)
