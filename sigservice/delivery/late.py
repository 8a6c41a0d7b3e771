"""Modules that need the database: see services/late.py."""

from typing import TYPE_CHECKING

from sigservice.late import Late

if TYPE_CHECKING:
    from sigservice.repository.access import api_tokens as api_token_rows
    from sigservice.services.access import api_tokens
else:
    api_token_rows = Late("sigservice.repository.access.api_tokens")
    api_tokens = Late("sigservice.services.access.api_tokens")
