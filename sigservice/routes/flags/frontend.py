"""The frontend API: evaluates flags for SDKs in browsers and apps."""

from typing import Any

import msgspec

from sigservice.delivery.compiled_flags import CompiledFlags
from sigservice.delivery.frontend_documents import FrontendDocument, evaluate_flag
from sigservice.delivery.revision_cache import Access
from sigservice.errors import NotFoundError, NotServedError
from sigservice.evaluation.fields import Fields
from sigservice.playground.evaluation_context import make_context, parse_query
from sigservice.web import ClientGuard, Context, HTTPResponse, Router, read_query, request, respond
from sigservice.web.body import read_json
from sigservice.web.client_ip import find_client_ip
from sigservice.web.etag import matches
from sigservice.web.guards import REVISIONS, SAFE_METHODS


class ContextBody(msgspec.Struct):
    """Unknown fields of the context become properties. Without `context`, the body is the
    context."""

    context: dict[str, Any] | None = None


def has_proxy_paths(config: dict[str, Any]) -> bool:
    """Whether the paths of Unleash Proxy are names of the frontend API."""
    return bool(config["frontendApi"]["proxyPaths"])


router = Router(ClientGuard, "frontend")
proxy_router = Router(ClientGuard, "frontend", is_enabled=has_proxy_paths)


@router.get("/api/frontend")
@router.post("/api/frontend", takes=ContextBody)
@proxy_router.get("/api/proxy")
@proxy_router.post("/api/proxy", takes=ContextBody)
def evaluate_flags(
    context: Context, access: Access, body: ContextBody | None = None
) -> HTTPResponse:
    """`{"toggles": [{name, enabled, variant, impressionData}]}`, the enabled flags. GET has the
    context in the query, and answers with a weak `ETag` and with 304 for `If-None-Match`. POST has
    the body `{"context": {…}}`, or the context alone."""
    fields = _make_fields(context, access, body)
    compiled = get_compiled(context, access)
    return _respond(context.frontend_documents.get(compiled, access.projects, fields))


@router.get("/api/frontend/all")
@router.post("/api/frontend/all", takes=ContextBody)
@proxy_router.get("/api/proxy/all")
@proxy_router.post("/api/proxy/all", takes=ContextBody)
def evaluate_all_flags(
    context: Context, access: Access, body: ContextBody | None = None
) -> HTTPResponse:
    """As `/api/frontend`, with disabled flags, whose `enabled` is false."""
    fields = _make_fields(context, access, body)
    compiled = get_compiled(context, access)
    return _respond(
        context.frontend_documents.get(compiled, access.projects, fields, has_disabled=True)
    )


@router.get("/api/frontend/features/<name>")
@router.post("/api/frontend/features/<name>", takes=ContextBody)
@proxy_router.get("/api/proxy/features/<name>")
@proxy_router.post("/api/proxy/features/<name>", takes=ContextBody)
def evaluate_flag_by_name(
    context: Context, access: Access, name: str, body: ContextBody | None = None
) -> HTTPResponse:
    """`{name, enabled, variant, impressionData}` of one flag, also a disabled one; otherwise as
    `/api/frontend`; 404."""
    fields = _make_fields(context, access, body)
    flag = get_compiled(context, access).all_flags.find(name, access.projects)
    if flag is None:
        raise NotFoundError("Flag not found.")
    return _respond(evaluate_flag(name, flag, fields))


@router.get("/api/frontend/client/features")
@router.get("/api/frontend/health")
@router.get("/api/frontend/client/health")
@router.get("/api/frontend/internal-backstage/prometheus")
@router.get("/api/frontend/client/internal-backstage/prometheus")
def reject(context: Context, access: Access) -> HTTPResponse:
    """405 `NotImplementedError`."""
    raise NotServedError("The frontend API has no such resource.", headers={"Allow": "OPTIONS"})


def _make_fields(context: Context, access: Access, body: ContextBody | None) -> Fields:
    """The evaluation context of the body or, without one, of the query."""
    environ, path = request.environ, ""
    if body is None:
        fields = parse_query(read_query(environ))
    else:
        fields, path = find_fields(body.context)
    return make_context(
        fields,
        environment=access.environment,
        remote_address=find_client_ip(environ, context.trusted_proxies),
        path=path,
        creates_session=True,
    )


def find_fields(context: dict[str, Any] | None) -> tuple[dict[str, Any], str]:
    """The fields of the evaluation context, and their path in the body of this request. `context`
    is its member of this name; without it the body is the context, as for Unleash Edge."""
    if context is not None:
        return context, "context."
    fields, _ = read_json(request.environ)
    return fields, ""


def get_compiled(context: Context, access: Access) -> CompiledFlags:
    revision = request.environ[REVISIONS].of_environment(access.environment)
    return context.compiled_flags.get(access.environment, revision)


def _respond(document: FrontendDocument) -> HTTPResponse:
    environ = request.environ
    headers = {"Etag": document.etag, "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
    if environ["REQUEST_METHOD"] in SAFE_METHODS and matches(
        environ.get("HTTP_IF_NONE_MATCH", ""), document.etag
    ):
        return respond.answer(b"", 304, headers)
    return respond.answer(document.text, 200, headers)
