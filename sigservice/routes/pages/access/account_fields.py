"""The form fields that pages of users, service accounts, profile and passwords share."""

from collections.abc import Sequence

from sigservice.db.statements import Row
from sigservice.services.access import passwords
from sigservice.web.forms import Field


def make_password_field(
    name: str, label: str, hint: str = "", *, autocomplete: str = "new-password"
) -> Field:
    """A required field without a value, because a page never shows a password again."""
    attributes = {"autocomplete": autocomplete}
    return Field(name, label, "", "password", hint, is_required=True, attributes=attributes)


def make_new_password_fields() -> list[Field]:
    return [
        make_password_field("password", "New password", passwords.REQUIREMENTS),
        make_password_field("confirm", "Confirm new password"),
    ]


def make_role_field(roles: Sequence[Row], value: str) -> Field:
    choices = [(role["name"], f"{role['name']}: {role['description']}") for role in roles]
    return Field("rootRole", "Role", value, "select", choices=choices)


def make_personal_token_fields(description: str, expires_at: str) -> list[Field]:
    """`expires_at` is a date as the form holds it."""
    hint = "00:00 UTC on this date."
    return [
        Field("description", "Description", description, is_required=True),
        Field("expiresAt", "Expires on", expires_at, "date", hint, is_required=True),
    ]
