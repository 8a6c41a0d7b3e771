"""The one exception family that services, guards and readers raise on purpose.

The wire name is the class's `name`: the names that SDKs and tools of the field know.
`web/errors.py` shapes them; nothing internal may stand in a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class AppError(Exception):
    """An answer other than success: `status`, wire `name`, message, details, extra headers.

    `details` are `{"message": …, "path": …}` items, one for each thing that is wrong; where it is
    one alone, its `path` is enough.
    `extra` are further members of the JSON body (such as the sign-in path of a 401).
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


def describe_fault(error_id: str) -> str:
    """What a record says of an unexpected error, which the log has under this ID."""
    return f"Internal server error (error {error_id})."


class BadDataError(AppError):
    status, name = 400, "BadDataError"


class ExceedsLimitError(AppError):
    """`resource` is what there is too much of, see `services/projects/resource_limits.py`."""

    status, name = 400, "ExceedsLimitError"

    def __init__(self, message: str, *, resource: str = "", limit: int = 0, **more: Any) -> None:
        super().__init__(message, **more)
        self.resource, self.limit = resource, limit


class OwaspValidationError(AppError):
    status, name = 400, "OwaspValidationError"


class PasswordPreviouslyUsedError(AppError):
    status, name = 400, "PasswordPreviouslyUsedError"


class InvalidTokenError(AppError):
    """Of a link to set a password."""

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
    """What nobody may do, whatever the role."""

    status, name = 403, "OperationDeniedError"


class NoPermissionError(AppError):
    status, name = 403, "PermissionError"


class PasswordChangeRequired(ForbiddenError):
    name = "PasswordChangeRequired"


class NotFoundError(AppError):
    status, name = 404, "NotFoundError"


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
    """What the configuration has switched off."""

    status, name = 422, "DisabledError"


class RateLimitError(AppError):
    status, name = 429, "RateLimitError"


class UnavailableError(AppError):
    """There is no room or no database just now; the sender should come again."""

    status, name = 503, "UnavailableError"

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message, **more)
        self.headers.setdefault("Retry-After", "1")


@dataclass(frozen=True)
class Problem:
    """One wrong setting, without its value: `variable` is its name, or the path in code."""

    variable: str
    expected: str
    example: str
    reason: str = ""

    def __str__(self) -> str:
        reason = f"{self.reason}; " if self.reason else ""
        return f"{self.variable}: {reason}expected {self.expected}, for example {self.example}"


class ConfigError(Exception):
    """Wrong configuration; `problems` has one line for each, without any secret. Exit code 2."""

    def __init__(self, found: Sequence[Problem]) -> None:
        self.problems = [str(problem) for problem in found]
        super().__init__("\n".join(self.problems))


class StartError(Exception):
    """The service can't start; the text is one clear line for a person. Exit code 1."""
