"""The frontend API: evaluates flags for SDKs in browsers and apps."""

from collections.abc import Mapping
from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.delivery.revision_cache import Access
from sigservice.errors import NotServedError
from sigservice.playground.evaluation_context import make_context, parse_query
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.client_ip import find_client_ip
from sigservice.web.etag import matches
from sigservice.web.guards import REVISIONS, SAFE_METHODS, ClientGuard
from sigservice.web.router import Router


class ContextBody(msgspec.Struct):
    """Unknown fields of the context become properties."""

    context: dict[str, Any] | None = None


router = Router(ClientGuard, "frontend")


def _evaluate(
    context: Context, access: Access, fields: Mapping[str, Any], path: str = ""
) -> HTTPResponse:
    environ = request.environ
    evaluation_context = make_context(
        fields,
        environment=access.environment,
        remote_address=find_client_ip(environ, context.trusted_proxies),
        path=path,
        creates_session=True,
    )
    revision = environ[REVISIONS].of_environment(access.environment)
    compiled = context.compiled_flags.get(access.environment, revision)
    document = context.frontend_documents.get(compiled, access.projects, evaluation_context)
    headers = {"Etag": document.etag, "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
    if environ["REQUEST_METHOD"] in SAFE_METHODS and matches(
        environ.get("HTTP_IF_NONE_MATCH", ""), document.etag
    ):
        return respond.answer(b"", 304, headers)
    return respond.answer(document.text, 200, headers)


@router.get("/api/frontend")
def evaluate_query(context: Context, access: Access) -> HTTPResponse:
    return _evaluate(context, access, parse_query(read_query(request.environ)))


@router.post("/api/frontend", takes=ContextBody)
def evaluate_body(context: Context, access: Access, body: ContextBody) -> HTTPResponse:
    return _evaluate(context, access, body.context or {}, "context.")


@router.get("/api/frontend/client/features")
@router.get("/api/frontend/health")
@router.get("/api/frontend/client/health")
@router.get("/api/frontend/internal-backstage/prometheus")
@router.get("/api/frontend/client/internal-backstage/prometheus")
def reject(context: Context, access: Access) -> HTTPResponse:
    raise NotServedError("The frontend API has no such resource.", headers={"Allow": "OPTIONS"})
