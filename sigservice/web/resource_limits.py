"""Pages that say that a limit is reached, before the user fills in a form."""

from sigservice.config.options import OPTIONS
from sigservice.web import Page
from sigservice.web.form_pages import Confirmation, make_confirmation_page
from sigservice.wording import plural

_VARIABLES = {option.path: option.env for option in OPTIONS}


def explain_limit(noun: str, limit: int, option: str = "") -> str:
    """`option` is the in-code name of the limit, "" if it is fixed."""
    text = f"The limit of {plural(limit, noun)} is reached. Delete one to create another"
    return f"{text}, or raise {_VARIABLES[option]}." if option else f"{text}."


def explain_reached_limit(noun: str, count: int, limit: int, option: str = "") -> str:
    """The text of `explain_limit`, "" if `count` is below the limit."""
    return explain_limit(noun, limit, option) if count >= limit else ""


def make_limit_page(title: str, text: str, back: tuple[str, str]) -> Page:
    """The page in place of a form that would fail; `back` is the label and path of the list."""
    label, path = back
    confirmation = Confirmation(
        title, [text], "", path, cancel=f"Back to {label}", breadcrumbs=[back]
    )
    return make_confirmation_page(confirmation)
