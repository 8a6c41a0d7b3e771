"""The built-in step patterns of releases, JSON."""

from sigservice.services.identity import VIEW, Identity
from sigservice.services.releases import step_patterns
from sigservice.web import AdminGuard, Context, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/release-templates", needs=VIEW)
def list_patterns(context: Context, identity: Identity) -> Json:
    """`{"releaseTemplates": [{name, description, steps, watchMinutes}]}`, the built-in step
    patterns."""
    return {"releaseTemplates": step_patterns.list_all()}
