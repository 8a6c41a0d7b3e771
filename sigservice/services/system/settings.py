"""Settings in the database: the instance's ID and the CORS origins of the frontend API."""

from collections.abc import Sequence

import msgspec

from sigservice.config.addresses import ANY_ORIGIN, is_origin
from sigservice.db import Connection
from sigservice.repository.system import settings
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events


def find_instance_id(conn: Connection) -> str:
    """The ID of this installation, "" before the first start."""
    text = settings.find(conn, "instance")
    return msgspec.json.decode(text)["id"] if text else ""


def list_frontend_origins(conn: Connection) -> list[str]:
    """Origins of pages that may call the frontend API; ["*"] means any."""
    text = settings.find(conn, "frontend")
    origins = msgspec.json.decode(text)["frontendApiOrigins"] if text else []
    return origins or [ANY_ORIGIN]


def set_frontend_origins(conn: Connection, origins: Sequence[str], by: Identity) -> None:
    """An empty list allows any origin. Raises BadDataError with each invalid origin."""
    origins = list(dict.fromkeys(origin.strip().lower() for origin in origins))
    problems = Problems()
    for n, origin in enumerate(origins):
        if not is_origin(origin):
            text = "Must be * or an origin such as https://example.org:8443."
            problems.add(f"frontendApiOrigins[{n}]", text)
    problems.raise_if_any()
    revisions.lock(conn)
    before, data = list_frontend_origins(conn), {"frontendApiOrigins": origins}
    settings.save(conn, "frontend", msgspec.json.encode(data).decode())
    if list_frontend_origins(conn) != before:
        events.record(
            conn, "setting-updated", by, data=data, pre_data={"frontendApiOrigins": before}
        )
        revisions.bump_tokens(conn)
