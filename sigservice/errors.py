"""The exceptions that become error responses, and those that stop the start.

Clients see the `name` of the class, which SDKs and tools of Unleash expect. `web/errors.py` makes
the response; messages must not contain internal details.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class AppError(Exception):
    """An error response: `status`, `name`, message, details, headers.

    `details` has a `{"message": …, "path": …}` for each problem; for a single problem `path` is
    enough. `extra` are further members of the JSON body, such as the sign-in path of a 401.
    """

    status = 500
    name = "InternalError"

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        details: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        only = {"message": message, "path": path} if path else {"message": message}
        self.details = [dict(item) for item in details] or [only]
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})


def copy_error(error: BaseException) -> BaseException:
    """The error for another caller: each one adds headers and a traceback to its own."""
    own = type(error).__new__(type(error), *error.args)
    vars(own).update({name: copy(value) for name, value in vars(error).items()})
    return own


def describe_fault(error_id: str) -> str:
    """The stored reason of an unexpected error; the log has the details under this ID."""
    return f"Internal server error (error {error_id})."


class BadDataError(AppError):
    status, name = 400, "BadDataError"


class ExceedsLimitError(AppError):
    """`resource` is a key of `services/projects/resource_limits.py`."""

    status, name = 400, "ExceedsLimitError"

    def __init__(self, message: str, *, resource: str = "", limit: int = 0, **more: Any) -> None:
        super().__init__(message, **more)
        self.resource, self.limit = resource, limit


class OwaspValidationError(AppError):
    status, name = 400, "OwaspValidationError"


class PasswordPreviouslyUsedError(AppError):
    status, name = 400, "PasswordPreviouslyUsedError"


class InvalidTokenError(AppError):
    """For invalid reset and invite links."""

    status, name = 401, "InvalidTokenError"


class UsedTokenError(AppError):
    status, name = 403, "UsedTokenError"


class PasswordMismatch(AppError):
    status, name = 401, "PasswordMismatch"


class UnauthorizedError(AppError):
    status, name = 401, "UnauthorizedError"

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, **more)
        self.headers.setdefault("WWW-Authenticate", 'Bearer realm="sigservice"')


class AuthenticationRequired(UnauthorizedError):
    name = "AuthenticationRequired"


class ForbiddenError(AppError):
    status, name = 403, "ForbiddenError"


class OperationDeniedError(AppError):
    """For operations that no role may do."""

    status, name = 403, "OperationDeniedError"


class NoPermissionError(AppError):
    status, name = 403, "PermissionError"


class PasswordChangeRequired(ForbiddenError):
    name = "PasswordChangeRequired"


class ConfirmationRequired(ForbiddenError):
    """For users without a password; `path` in `extra` is where they sign in again."""

    name = "ConfirmationRequired"


class NotFoundError(AppError):
    status, name = 404, "NotFoundError"


def require_found(value: T | None, message: str) -> T:
    """The value; raises NotFoundError with the message if it is None."""
    if value is None:
        raise NotFoundError(message)
    return value


class MethodNotAllowedError(AppError):
    status, name = 405, "MethodNotAllowedError"


class NotServedError(AppError):
    status, name = 405, "NotImplementedError"


class ConflictError(AppError):
    status, name = 409, "ConflictError"


class NameExistsError(ConflictError):
    name = "NameExistsError"


class ContentTooLargeError(AppError):
    status, name = 413, "ContentTooLargeError"


class ContentTypeError(AppError):
    status, name = 415, "ContentTypeError"


class DisabledError(AppError):
    """For features that the configuration disables."""

    status, name = 422, "DisabledError"


class RateLimitError(AppError):
    status, name = 429, "RateLimitError"


class NoStreamError(AppError):
    """For a server that can't keep the connection of a stream."""

    status, name = 501, "NotImplementedError"


class UnavailableError(AppError):
    """For a busy service or an unavailable database; the client should retry."""

    status, name = 503, "UnavailableError"

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, **more)
        self.headers.setdefault("Retry-After", "1")


def build_busy_error() -> UnavailableError:
    return UnavailableError("The service is busy. Try again.")


@dataclass(frozen=True)
class Problem:
    """An invalid option, without its value; `variable` is its variable or its path in code."""

    variable: str
    expected: str
    example: str
    reason: str = ""

    def __str__(self) -> str:
        reason = f"{self.reason}; " if self.reason else ""
        return f"{self.variable}: {reason}expected {self.expected}, for example {self.example}"


class ConfigError(Exception):
    """Invalid configuration; `problems` has one line for each, without secrets. Exit code 2."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = [str(problem) for problem in problems]
        super().__init__("\n".join(self.problems))


class StartError(Exception):
    """The service can't start; the text is one line. Exit code 1."""
