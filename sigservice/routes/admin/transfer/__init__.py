"""Export, import, moving in from another server."""

from sigservice.routes.admin.transfer import (
    feature_export,
)

ROUTERS = (feature_export.router,)
