"""The actors of events of releases. An event stores a name, which an API token and a user may
share."""

from collections.abc import Collection

from sigservice.db import Connection, Row
from sigservice.repository.system.events import EventFilter
from sigservice.services.identity import ADMIN_TOKEN_ID, name_actor
from sigservice.services.system import events


class Actors:
    """The actors of the releases of these flags."""

    def __init__(self, conn: Connection, features: Collection[str]) -> None:
        event_filter = EventFilter(features=[*features], families=["release"])
        items = events.list_data_of_tokens(conn, event_filter) if features else []
        self._token_events = {(item["releaseId"], item["text"]) for item in items}

    def name(self, actor: str, release_id: int, text: str) -> str:
        """The name, in sentences, of the actor of the event with this text."""
        is_token = (release_id, text) in self._token_events
        return name_actor(actor, ADMIN_TOKEN_ID if is_token else None)

    def name_last(self, row: Row) -> Row:
        """The release with the name of its `last_actor`."""
        name = row["last_actor"] and self.name(row["last_actor"], row["id"], row["last_text"])
        return row | {"last_actor": name}
