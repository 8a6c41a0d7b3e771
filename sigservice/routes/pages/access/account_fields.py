"""Form fields and columns that pages of users, service accounts, profile and passwords share."""

from collections.abc import Sequence

from sigservice.services.access import passwords
from sigservice.web import Page, Row, ShownOnce
from sigservice.web.forms import Field
from sigservice.web.tables import Cell, Column

PERSONAL_TOKEN_FIELDS = [
    Field("description", "Description", is_required=True),
    Field("expiresAt", "Expires on", type="date", hint="Its beginning.", is_required=True),
]
PERSONAL_TOKEN_COLUMNS = (
    Column("Description", lambda row: Cell(row["description"])),
    Column("Token", lambda row: Cell(f"{row['secret_prefix']}…")),
    Column("Expires", lambda row: Cell(at=row["expires_at"])),
    Column("Last used", lambda row: Cell(at=row["seen_at"], missing="never")),
)


def make_password_field(
    name: str, label: str, hint: str = "", *, autocomplete: str = "new-password"
) -> Field:
    """A required field."""
    attributes = {"autocomplete": autocomplete}
    return Field(name, label, "", "password", hint, is_required=True, attributes=attributes)


def make_new_password_fields() -> list[Field]:
    return [
        make_password_field("password", "New password", passwords.REQUIREMENTS),
        make_password_field("confirm", "Confirm new password"),
    ]


def make_role_field(roles: Sequence[Row]) -> Field:
    choices = [(role["name"], f"{role['name']}: {role['description']}") for role in roles]
    return Field("rootRole", "Role", type="select", choices=choices)


def make_created_page(token: Row, secret: str, back: str) -> ShownOnce:
    """The page that shows the secret of a new personal token."""
    page = Page(
        "access/personal_tokens/created",
        title="Token created",
        token=token,
        secret=Field("secret", "Token", secret),
        back=back,
    )
    return ShownOnce(page, back)
