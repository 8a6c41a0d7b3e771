"""The client API, which server-side SDKs poll and stream from, as the official SDKs expect it."""

import re
from functools import lru_cache

from sigservice.context import Context
from sigservice.delivery.client_subscription import ClientSubscription
from sigservice.delivery.delta import build_message
from sigservice.delivery.document_parts import find_text
from sigservice.delivery.event_stream import HEADERS
from sigservice.delivery.revision_cache import Access
from sigservice.errors import BadDataError, NoStreamError, NotFoundError
from sigservice.semantic_version import SemanticVersion, parse_version
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.services.revisions import Revisions
from sigservice.web import ClientGuard, HTTPResponse, Router, request, respond, stream_offers
from sigservice.web.body import read_query_pairs
from sigservice.web.etag import matches
from sigservice.web.guards import REVISIONS
from sigservice.web.wsgi import MIN_COMPRESSED_BYTES, accepts_gzip

FIRST_SPEC_WITH_SEGMENTS = SemanticVersion(4, 2, 0)

router = Router(ClientGuard, "client")


@router.get("/api/client/features")
def show_document(context: Context, access: Access) -> HTTPResponse:
    """Query: `project`, `tag`, `namePrefix`. `{version, features, query, segments, meta}` with
    `ETag`; 304 for `If-None-Match`."""
    environ = request.environ
    context.poll_intervals.record(access.environment, environ.get("HTTP_UNLEASH_INTERVAL", ""))
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
    is_current = matches(environ.get("HTTP_IF_NONE_MATCH", ""), etag)
    if is_current and stream_offers.must_offer(context, environ):
        # Without an ETag: the SDK drops this body, and if its stream fails it must get another.
        del headers["Etag"]
        headers["Fetch-Mode"] = "streaming"
    elif is_current:
        return respond.answer(b"", 304, headers)
    document = context.client_documents.get(query, revision)
    if "Etag" in headers:
        headers["Etag"] = document.etag
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    if (
        document.size < MIN_COMPRESSED_BYTES
        or context.config["disableCompression"]
        or not accepts_gzip(accepted)
    ):
        return respond.answer(document.body, 200, headers)
    return respond.answer(document.gzipped, 200, headers | {"Content-Encoding": "gzip"})


@router.get("/api/client/delta")
def show_changes(context: Context, access: Access) -> HTTPResponse:
    """Query: `project`, `namePrefix`. `{events}` with `ETag`: what has changed since the event ID
    in `If-None-Match`, or 304; see [streaming](streaming.md)."""
    environ = request.environ
    context.poll_intervals.record(access.environment, environ.get("HTTP_UNLEASH_INTERVAL", ""))
    query = _build_query(environ.get("QUERY_STRING", ""), "", access)
    revisions: Revisions = environ[REVISIONS]
    since = _parse_event_id(environ.get("HTTP_IF_NONE_MATCH", ""))
    event_id, message = revisions.find_event_id(access.environment), b""
    if since != event_id:
        revision = revisions.of_environment(access.environment)
        state = context.flag_states.get(access.environment, revision)
        event_id, message = state.event_id, build_message(state, query, since)
    headers = {
        "Etag": f'"{event_id}"',
        "Content-Type": respond.JSON,
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
    }
    return respond.answer(message, 200 if message else 304, headers)


@router.get("/api/client/streaming")
def open_stream(context: Context, access: Access) -> HTTPResponse:
    """`text/event-stream`: the events of the delta, from the event ID in `Last-Event-ID` on; 429
    above `SERVICE_STREAMS_LIMIT`.

    404, 429 and 501 make the Node SDK poll at once; after some other errors it never polls again
    (docs/streaming.md).
    """
    environ = request.environ
    if not context.streams.limit:
        raise NotFoundError(
            "This service has no streams (SERVICE_STREAMS_LIMIT is 0). Poll instead."
        )
    hand_over = environ.get("sigservice.hand_over")
    if hand_over is None:
        raise NoStreamError("Only the service's own listener has streams. Poll instead.")
    query = _build_query(environ.get("QUERY_STRING", ""), "", access)
    revision = environ[REVISIONS].of_environment(access.environment)
    state = context.flag_states.get(access.environment, revision)
    subscription = ClientSubscription(context.flag_states, access, query, state)
    since = _parse_event_id(environ.get("HTTP_LAST_EVENT_ID", ""))
    event = subscription.write_connected(state, since)
    if environ["REQUEST_METHOD"] != "HEAD":
        context.poll_intervals.record_stream(access.environment)
        hand_over(context.streams.open(subscription))
    return respond.answer(iter([event]), 200, HEADERS)


@router.get("/api/client/features/<name>")
def show_feature(context: Context, access: Access, name: str) -> HTTPResponse:
    """One flag."""
    spec = request.environ.get("HTTP_UNLEASH_CLIENT_SPEC", "")
    query = _build_query("", spec, access)
    revision = request.environ[REVISIONS].of_environment(access.environment)
    body = find_text(context.flag_states.get(access.environment, revision), query, name)
    if body is None:
        raise NotFoundError("Flag not found.")
    return HTTPResponse(body, 200, {"Content-Type": respond.JSON})


def _parse_event_id(text: str) -> int | None:
    """The event ID of If-None-Match or Last-Event-ID; None without a readable one."""
    match = re.fullmatch(r'\s*(?:W/)?"?([0-9]{1,10})"?\s*', text)
    return int(match[1]) if match else None


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
