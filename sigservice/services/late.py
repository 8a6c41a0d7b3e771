"""Modules that need the database, for modules that the relay needs too. It has no database, so each
is imported at its first use, as the libraries of `sigservice.late` are."""

from typing import TYPE_CHECKING

from sigservice.late import Late

if TYPE_CHECKING:
    from sigservice import db
    from sigservice.repository import revisions as revision_rows
    from sigservice.repository.flags import client_features as client_feature_rows
else:
    db = Late("sigservice.db")
    revision_rows = Late("sigservice.repository.revisions")
    client_feature_rows = Late("sigservice.repository.flags.client_features")
