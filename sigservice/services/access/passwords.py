"""The password policy: the rules that the compared server's users know, and no common passwords.

Each rule is a sentence that a failing password is answered with.
"""

from __future__ import annotations

import re
from typing import Any

from sigservice.errors import AppError, OwaspValidationError
from sigservice.services.access import common_passwords

SHORTEST, LONGEST = 10, 128
RULES = (
    (
        re.compile(rf".{{{SHORTEST},}}", re.DOTALL),
        f"The password must have at least {SHORTEST} characters.",
    ),
    (
        re.compile(rf".{{0,{LONGEST}}}", re.DOTALL),
        f"The password must have at most {LONGEST} characters.",
    ),
    (
        re.compile(r"(?!.*(.)\1\1).*", re.DOTALL),
        "The password must not repeat a character three times in a row.",
    ),
    (re.compile(r".*[a-z].*", re.DOTALL), "The password must have a lower-case letter."),
    (re.compile(r".*[A-Z].*", re.DOTALL), "The password must have an upper-case letter."),
    (re.compile(r".*[0-9].*", re.DOTALL), "The password must have a digit."),
    (re.compile(r".*[^A-Za-z0-9].*", re.DOTALL), "The password must have a special character."),
)
UNCOMMON = "The password must not be a common one, even with digits and special characters added."
NAMELESS = "The password must not contain the user name or the name of this service."


def list_rules() -> list[str]:
    return [*(text for _, text in RULES), UNCOMMON, NAMELESS]


def list_failed_rules(password: str, *names: str | None) -> list[str]:
    failed = [text for pattern, text in RULES if not pattern.fullmatch(password)]
    if failed:  # common passwords fail most of these: the answer stays the compared server's
        return failed
    failed += [UNCOMMON] if common_passwords.is_common(password) else []
    return failed + ([NAMELESS] if common_passwords.contains_name(password, names) else [])


def check(password: str, *names: str | None) -> None:
    """Raises OwaspValidationError with every rule that the password fails; `names` are the user's
    name and email address."""
    failed = list_failed_rules(password, *names)
    if failed:
        detail = {"message": failed[0], "validationErrors": failed, "path": "password"}
        raise OwaspValidationError(failed[0], details=[detail])


def list_problems(error: AppError) -> list[dict[str, Any]]:
    """{message, path} for a form: one for each failed rule."""
    return [
        {"message": text, "path": detail.get("path")}
        for detail in error.details
        for text in detail.get("validationErrors") or [detail["message"]]
    ]
