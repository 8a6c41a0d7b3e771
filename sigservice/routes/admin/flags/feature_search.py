"""Search for flags of all projects, JSON, page by page."""

from sigservice.errors import BadDataError
from sigservice.repository.flags.features import FeatureFilter
from sigservice.services.flags import feature_view
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Connection, Json, Router, request
from sigservice.web.body import read_query_pairs
from sigservice.web.paging import read_paging, read_values

INCLUDES = ("INCLUDE", "INCLUDE_ANY_OF")
SORTS = ("name", "createdAt")

router = Router(AdminGuard)


@router.get("/api/admin/search/features", needs=VIEW)
def search_features(conn: Connection, identity: Identity) -> Json:
    """Query: `query`, `project` and `type` (`IS:x`, `IS_ANY_OF:x,y`), `state` (`IS:active`,
    `IS:stale`), `tag` (`INCLUDE:type:value`), `status` (`production:enabled`), `archived=IS:true`,
    `sortBy` (`name`, `createdAt`), `sortOrder`, `limit`, `offset`. `{"features", "total"}`, from
    all projects; a `query` has at most 100 words."""
    pairs = read_query_pairs(request.environ)
    query = dict(pairs)
    page = read_paging(query)
    environment, enabled = _parse_status(query)
    filter = FeatureFilter(
        archived=_read_choice(query, "archived", ("IS:false", "IS:true")) == "IS:true",
        projects=read_values(query, "project"),
        types=read_values(query, "type"),
        stale=_parse_stale(read_values(query, "state")),
        tags=_parse_tags(query.get("tag", "")),
        text=query.get("query", "").strip() or None,
        environment=environment,
        enabled=enabled,
        sort=_read_choice(query, "sortBy", SORTS),
        descending=_read_choice(query, "sortOrder", ("asc", "desc")) == "desc",
        limit=page.limit,
        offset=page.offset,
    )
    flags, total = feature_view.search(conn, filter, identity.user_id)
    return {"features": flags, "total": total}


def _read_choice(query: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    text = query.get(name, "") or choices[0]
    if text not in choices:
        raise BadDataError(f"{name} must be one of {', '.join(choices)}.", path=name)
    return text


def _parse_status(query: dict[str, str]) -> tuple[str | None, bool]:
    """`status=production:enabled`."""
    text = query.get("status[]", "") or query.get("status", "")
    environment, _, state = text.rpartition(":")
    if text and not (environment and state in ("enabled", "disabled")):
        raise BadDataError(
            "status must have the form production:enabled or production:disabled.", path="status"
        )
    return environment or None, state != "disabled"


def _parse_stale(states: list[str] | None) -> bool | None:
    if states is None or set(states) == {"active", "stale"}:
        return None
    if states not in (["active"], ["stale"]):
        raise BadDataError("state must be IS:active or IS:stale.", path="state")
    return states == ["stale"]


def _parse_tags(text: str) -> list[str] | None:
    """`INCLUDE:type:value` and `INCLUDE_ANY_OF:type:value,type:value`."""
    if not text:
        return None
    operator, _, rest = text.partition(":")
    tags = [tag.strip() for tag in rest.split(",")]
    if operator not in INCLUDES or not all(":" in tag for tag in tags):
        raise BadDataError(
            "tag must have the form INCLUDE:type:value or INCLUDE_ANY_OF:a:b,c:d.", path="tag"
        )
    return tags
