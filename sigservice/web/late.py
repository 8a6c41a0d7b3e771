"""Modules that need the database, of pages and the admin API: see services/late.py."""

from typing import TYPE_CHECKING

from sigservice.late import Late

if TYPE_CHECKING:
    from sigservice.services.access import api_tokens, personal_tokens
    from sigservice.services.flags import feature_states
    from sigservice.services.system import emergency
    from sigservice.web import once_pages, project_choice, request_identity, session
else:
    api_tokens = Late("sigservice.services.access.api_tokens")
    personal_tokens = Late("sigservice.services.access.personal_tokens")
    feature_states = Late("sigservice.services.flags.feature_states")
    emergency = Late("sigservice.services.system.emergency")
    once_pages = Late("sigservice.web.once_pages")
    project_choice = Late("sigservice.web.project_choice")
    request_identity = Late("sigservice.web.request_identity")
    session = Late("sigservice.web.session")
