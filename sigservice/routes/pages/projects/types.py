"""The page that lists the types of flags, strategies and tags."""

from sigservice.repository.projects import feature_types, strategy_types, tag_types
from sigservice.services.identity import VIEW, Identity
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond

PATH = "/admin/types"
BREADCRUMBS = [("Types", PATH)]
NOTICES = {
    "saved": "Type saved.",
    "created": "Type created.",
    "deleted": "Type deleted.",
    "deprecated": "Strategy type deprecated. Strategies of this type keep working.",
    "reactivated": "Strategy type reactivated.",
}

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_types(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        flags = feature_types.list_all(conn)
        strategies = strategy_types.list_all(conn)
        tags = tag_types.list_all(conn)
    return respond.page(
        context,
        "projects/types/list",
        identity,
        title="Types",
        feature_types=flags,
        strategy_types=strategies,
        tag_types=tags,
        notice=respond.find_notice(NOTICES),
    )
