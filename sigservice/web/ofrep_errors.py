"""Errors in the shape of OFREP, the OpenFeature Remote Evaluation Protocol."""

from typing import Any

from sigservice.errors import AppError

PATH = "/ofrep"
_FLAG = f"{PATH}/v1/evaluate/flags/"
PARSE_ERROR, INVALID_CONTEXT = "PARSE_ERROR", "INVALID_CONTEXT"
FLAG_NOT_FOUND, GENERAL = "FLAG_NOT_FOUND", "GENERAL"


def is_ofrep(path: str) -> bool:
    """Whether `path`, without the base path, belongs to OFREP."""
    return path == PATH or path.startswith(PATH + "/")


def build_ofrep_body(error: AppError, path: str, error_id: str) -> dict[str, Any]:
    """`{key, errorCode, errorDetails}`; `key` is missing if the request is about no single flag."""
    body = {"errorCode": _find_code(error), "errorDetails": _describe(error, error_id)}
    if path.startswith(_FLAG):
        body["key"] = _decode(path.removeprefix(_FLAG))
    return body


def _decode(text: str) -> str:
    """Decodes the WSGI string of errors outside of handlers; bottle decodes the path for
    handlers."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _find_code(error: AppError) -> str:
    if code := error.extra.get("errorCode"):
        return str(code)
    if error.status != 400:
        return GENERAL
    is_context = any(it.get("path") for it in error.details)
    return INVALID_CONTEXT if is_context else PARSE_ERROR


def _describe(error: AppError, error_id: str) -> str:
    if error.status >= 500:
        return f"{error.message} (error {error_id})"
    problems = [f"{it['path']}: {it['message']}" for it in error.details if it.get("path")]
    return " ".join(problems) or error.message
