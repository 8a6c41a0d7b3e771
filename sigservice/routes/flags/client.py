"""The client API, which server-side SDKs poll, as the official SDKs specify it."""

from functools import lru_cache

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import BadDataError, NotFoundError
from sigservice.flags.revision_cache import Access
from sigservice.semantic_version import SemanticVersion, parse_version
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.web import respond
from sigservice.web.body import read_query_pairs
from sigservice.web.etag import matches
from sigservice.web.guards import REVISIONS, ClientGuard
from sigservice.web.router import Router

FIRST_SPEC_WITH_SEGMENTS = SemanticVersion(4, 2, 0)


router = Router(ClientGuard, "client")


@router.get("/api/client/features")
def show_document(context: Context, access: Access) -> HTTPResponse:
    environ = request.environ
    query = _build_query(
        environ.get("QUERY_STRING", ""), environ.get("HTTP_UNLEASH_CLIENT_SPEC", ""), access
    )
    revision = environ[REVISIONS].of_environment(access.environment)
    etag = client_features.build_etag(query, revision)
    headers = {
        "Etag": etag,  # bottle's spelling
        "Content-Type": respond.JSON,
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
    }
    if matches(environ.get("HTTP_IF_NONE_MATCH", ""), etag):
        return respond.answer(b"", 304, headers)
    document = context.client_documents.get(query, revision)
    return respond.answer(document.body, 200, headers)


@router.get("/api/client/features/<name>")
def show_feature(context: Context, access: Access, name: str) -> HTTPResponse:
    spec = request.environ.get("HTTP_UNLEASH_CLIENT_SPEC", "")
    query = _build_query("", spec, access)
    with context.database.autocommit() as conn:
        body = client_features.build_flag(conn, query, name)
    if body is None:
        raise NotFoundError("Flag not found.")
    return HTTPResponse(body, 200, {"Content-Type": respond.JSON})


@lru_cache(maxsize=1000)
def _build_query(query_string: str, spec: str, access: Access) -> Query:
    """The projects of the token override the requested ones. Raises BadDataError."""
    projects, tags, prefixes = [], [], []
    for name, text in read_query_pairs({"QUERY_STRING": query_string}):
        if name == "project":
            projects.append(text)
        elif name == "tag":
            type, colon, value = text.partition(":")
            if not (type and colon and value):
                raise BadDataError("A tag must have the form type:value.", path="tag")
            tags.append((type, value))
        elif name == "namePrefix":
            prefixes.append(text)
    if prefixes and (len(prefixes) > 1 or not prefixes[0]):
        raise BadDataError("namePrefix must have one value that isn't empty.", path="namePrefix")
    scope: tuple[str, ...] | None = tuple(sorted(set(projects)))
    if not access.has_all_projects:
        scope = tuple(sorted(set(access.projects)))
    elif not projects or "*" in projects:
        scope = None
    return Query(
        access.environment,
        scope,
        tuple(sorted(set(tags))),
        prefixes[0] if prefixes else "",
        _needs_inline_segments(spec),
    )


def _needs_inline_segments(spec: str) -> bool:
    """Whether the SDK is too old for segments. Raises BadDataError for an invalid version."""
    if not spec.strip():
        return True
    version = parse_version(spec.strip())
    if version is None:
        raise BadDataError(
            "Unleash-Client-Spec must be a version such as 5.1.0.", path="Unleash-Client-Spec"
        )
    return version < FIRST_SPEC_WITH_SEGMENTS
