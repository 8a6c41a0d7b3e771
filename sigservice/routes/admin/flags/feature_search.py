"""Flags of every project, JSON: searched, filtered, page by page."""

from __future__ import annotations

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import BadDataError
from sigservice.repository.flags.features import FeatureFilter
from sigservice.services.flags import feature_view
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.body import query_pairs
from sigservice.web.guards import AdminGuard
from sigservice.web.paging import read_paging, read_values
from sigservice.web.router import Router

INCLUDES = ("INCLUDE", "INCLUDE_ANY_OF")
SORTS = ("name", "createdAt")


router = Router(AdminGuard)


@router.get("/api/admin/search/features", needs=VIEW)
def search(context: Context, identity: Identity) -> HTTPResponse:
    pairs = query_pairs(request.environ)
    query = dict(pairs)
    asked = read_paging(query)
    environment, enabled = _status(query)
    wanted = FeatureFilter(
        archived=_one_of(query, "archived", ("IS:false", "IS:true")) == "IS:true",
        projects=read_values(query, "project"),
        types=read_values(query, "type"),
        stale=_stale(read_values(query, "state")),
        tags=_tags(query.get("tag", "")),
        text=query.get("query", "").strip() or None,
        environment=environment,
        enabled=enabled,
        newest=_one_of(query, "sortBy", SORTS) == "createdAt",
        descending=_one_of(query, "sortOrder", ("asc", "desc")) == "desc",
        limit=asked.limit,
        offset=asked.offset,
    )
    with context.database.transaction() as conn:
        found, total = feature_view.search(conn, wanted)
    return respond.json({"features": found, "total": total})


def _one_of(query: dict[str, str], name: str, allowed: tuple[str, ...]) -> str:
    text = query.get(name, "") or allowed[0]
    if text not in allowed:
        raise BadDataError(f"{name} is one of {', '.join(allowed)}.", path=name)
    return text


def _status(query: dict[str, str]) -> tuple[str | None, bool]:
    """`status=production:enabled`."""
    text = query.get("status[]", "") or query.get("status", "")
    environment, _, state = text.rpartition(":")
    if text and not (environment and state in ("enabled", "disabled")):
        raise BadDataError(
            "status looks like production:enabled or production:disabled.", path="status"
        )
    return environment or None, state != "disabled"


def _stale(states: list[str] | None) -> bool | None:
    if states is None or set(states) == {"active", "stale"}:
        return None
    if states not in (["active"], ["stale"]):
        raise BadDataError("state is IS:active or IS:stale.", path="state")
    return states == ["stale"]


def _tags(text: str) -> list[str] | None:
    """`INCLUDE:type:value` and `INCLUDE_ANY_OF:type:value,type:value`."""
    if not text:
        return None
    operator, _, rest = text.partition(":")
    tags = [tag.strip() for tag in rest.split(",")]
    if operator not in INCLUDES or not all(":" in tag for tag in tags):
        raise BadDataError(
            "tag looks like INCLUDE:type:value or INCLUDE_ANY_OF:a:b,c:d.", path="tag"
        )
    return tags
