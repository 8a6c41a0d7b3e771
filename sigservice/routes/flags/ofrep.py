"""OFREP, the OpenFeature Remote Evaluation Protocol: evaluates flags for every OpenFeature SDK."""

from typing import Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import NotFoundError
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.ofrep import encode_answer, evaluate_flag
from sigservice.flags.compiled_flags import CompiledFlags
from sigservice.flags.evaluation_context import make_ofrep_context
from sigservice.flags.revision_cache import Access
from sigservice.web import respond
from sigservice.web.client_ip import find_client_ip
from sigservice.web.etag import matches
from sigservice.web.guards import REVISIONS, OfrepGuard
from sigservice.web.ofrep_errors import FLAG_NOT_FOUND
from sigservice.web.router import Router

Attributes = dict[str, Any]


class EvaluationBody(msgspec.Struct):
    """`context` may have a `targetingKey`; its other values may be nested."""

    context: Attributes = {}


router = Router(OfrepGuard, "client", "frontend")


@router.post("/ofrep/v1/evaluate/flags/<key:path>", takes=EvaluationBody)
def evaluate_flag_by_key(
    context: Context, access: Access, key: str, body: EvaluationBody
) -> HTTPResponse:
    fields = _make_fields(context, access, body)
    flag = _get_compiled(context, access).ofrep_flags.find(key, access.projects)
    if flag is None:
        raise NotFoundError("There is no such flag.", extra={"errorCode": FLAG_NOT_FOUND})
    answer = encode_answer(key, evaluate_flag(flag, fields))
    return respond.answer(answer, 200, {"Content-Type": respond.JSON, "Cache-Control": "no-cache"})


@router.post("/ofrep/v1/evaluate/flags", takes=EvaluationBody)
def evaluate_all_flags(context: Context, access: Access, body: EvaluationBody) -> HTTPResponse:
    """The revision is read after each request has arrived, so that every answer is at least as new
    as the event that `flagConfigEtag` in the query is about."""
    fields = _make_fields(context, access, body)
    document = context.frontend_documents.get_ofrep(
        _get_compiled(context, access), access.projects, fields, {}
    )
    headers = {"Etag": document.etag, "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
    if matches(request.environ.get("HTTP_IF_NONE_MATCH", ""), document.etag):
        return respond.answer(b"", 304, headers)
    return respond.answer(document.text, 200, headers)


def _make_fields(context: Context, access: Access, body: EvaluationBody) -> Fields:
    return make_ofrep_context(
        body.context,
        environment=access.environment,
        remote_address=find_client_ip(request.environ, context.trusted_proxies),
        path="context.",
    )


def _get_compiled(context: Context, access: Access) -> CompiledFlags:
    revision = request.environ[REVISIONS].of_environment(access.environment)
    return context.compiled_flags.get(access.environment, revision)
