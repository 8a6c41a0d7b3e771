"""Pages with a form, and pages that ask before a dangerous change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from bottle import request

from sigservice.context import Context
from sigservice.errors import AppError, RateLimitError
from sigservice.services.identity import Identity
from sigservice.web.body import read_query
from sigservice.web.forms import Entry, Field, Form, fill, locate_problems
from sigservice.web.growing_forms import GrowingSection
from sigservice.web.respond import Page, Question
from sigservice.web.router import Router, bind_handler, takes_connection

Handler = Callable[..., Any]
Breadcrumbs = Sequence[tuple[str, str]]
Body = Sequence[str | Sequence[tuple[str, str]]]


def shows_errors_in(show: Handler) -> Callable[[Handler], Handler]:
    """Decorates the handler of a submitted form. After an error that the user can correct, and
    after a button that adds, removes or moves a row, the response shows the form again. `show` gets
    what was submitted, and the error if there is one, as `entry`; the page has the problems and the
    status of that error. Raises other errors. The PageGuard passes its error as `refusal` if the
    form is of an earlier session."""

    def decorate(save: Handler) -> Handler:
        @wraps(save)
        def submit(context: Context, identity: Identity, form: Form, **path: Any) -> Any:
            entry = Entry(form, path.pop("refusal", None))
            if not entry.error and not form.get("do", "").startswith(("add-", "remove-", "up-")):
                try:
                    return bind_handler(save, context)(identity, form=form, **path)
                except AppError as error:
                    if not is_correctable(error):
                        raise
                    entry = Entry(form, error)
            page = bind_handler(show, context)(identity, entry=entry, **path)
            page.values["entry"] = entry
            return page

        submit.shows_refusal = True  # type: ignore[attr-defined]
        return submit

    return decorate


def is_correctable(error: AppError) -> bool:
    """Whether the form shows the error. If the edited object is missing, the form can't be shown
    either."""
    return error.status < 500 and not isinstance(error, RateLimitError)


def make_form_page(
    fields: Sequence[Field],
    *,
    title: str,
    button: str,
    sections: Sequence[GrowingSection] = (),
    **values: Any,
) -> Page:
    """A page with a form that is sent to its own path. Further values of the template: `heading`
    (the title by default), `intro`, `cancel_path`, `deletion` (the label and path of a link),
    `rest`, a template that is printed below, and `path`, if the forms in it have other paths."""
    defaults: dict[str, Any] = dict.fromkeys(("intro", "cancel_path", "rest", "path"), "")
    return Page(
        "form",
        title=title,
        button=button,
        fields=fields,
        sections=sections,
        **defaults | {"heading": title, "deletion": None} | values,
    )


@dataclass(frozen=True)
class Confirmation:
    """The question of a page. `perform` makes the change, and `done` is the path to which the
    response redirects. `body` has paragraphs, and lists of texts with the path of a link or "".
    Without a `button` the change isn't possible, and the body says why. `hidden` are fields that
    the form sends, `fields` the ones that the user fills in. `changes` are lines with `del`, `ins`
    or "" for what goes, what is new and what stays."""

    title: str
    body: Body
    button: str
    cancel_path: str
    perform: Callable[[], Any] = lambda: None  # None and no `done` where another route acts
    done: str = ""
    cancel: str = "Cancel"
    is_dangerous: bool = True
    hidden: Mapping[str, str] = field(default_factory=dict)
    fields: Sequence[Field] = ()
    breadcrumbs: Breadcrumbs = ()
    after_commit: Callable[[], Any] = lambda: None
    changes: Sequence[tuple[str, str]] = ()


def ask_first(form: Form, question: Confirmation, error: AppError | None = None) -> None:
    """Raises Question unless `form` answers it. Its answer sends the form again; with `error`, the
    question is asked again. static/app.js shows it in a dialog."""
    if "confirmed" in form and error is None:
        return
    names = {field.name for field in question.fields}
    hidden = {name: text for name, text in form.items() if name not in names}
    defaults = {field.name: field.value for field in question.fields}
    fields = fill(question.fields, defaults | form)
    question = replace(question, hidden=hidden | {"confirmed": "on"}, fields=fields)
    raise Question(make_confirmation_page(question, error, form))


def confirms(
    router: Router, path: str, *, needs: str, has_form: bool = False
) -> Callable[[Handler], Any]:
    """Declares the two routes of a change that a page asks about first. The decorated function gets
    the context if it takes it, a connection in a transaction, the identity and the parts of the
    path, and returns the Confirmation. With `has_form` it also gets the `form`: the query of a GET,
    or the submitted values of a POST."""

    def declare(describe: Callable[..., Confirmation]) -> Callable[..., Confirmation]:
        has_no_context = takes_connection(describe)

        def ask(context: Context, *args: Any, **parts: Any) -> Confirmation:
            return describe(*args, **parts) if has_no_context else describe(context, *args, **parts)

        def show(
            context: Context,
            identity: Identity,
            error: AppError | None = None,
            entered: Form | None = None,
            **parts: Any,
        ) -> Page:
            if has_form:
                parts["form"] = entered or read_query(request.environ)
            with context.database.transaction() as conn:
                confirmation = ask(context, conn, identity, **parts)
            return make_confirmation_page(confirmation, error, entered)

        def perform(context: Context, identity: Identity, form: Form, **parts: Any) -> Page | str:
            own = {"form": form} if has_form else {}
            try:
                with context.database.transaction() as conn:
                    confirmation = ask(context, conn, identity, **own, **parts)
                    confirmation.perform()
            except AppError as error:
                if not is_correctable(error):
                    raise
                return show(context, identity, error, form, **parts)
            confirmation.after_commit()
            return confirmation.done

        show.__name__, perform.__name__ = f"confirm_{describe.__name__}", describe.__name__
        show.__module__ = perform.__module__ = describe.__module__
        router.get(path, needs=needs)(show)
        router.post(path, needs=needs)(perform)
        return describe

    return declare


def make_confirmation_page(
    confirmation: Confirmation, error: AppError | None = None, form: Form | None = None
) -> Page:
    """The page that asks; with the error, and with the `form` that was submitted."""
    return Page(
        "confirmation",
        form_error=error,
        problems=_list_problems(error, form or {}) if error else [],
        title=confirmation.title,
        breadcrumbs=confirmation.breadcrumbs,
        confirmation=confirmation,
    )


def _list_problems(error: AppError, form: Form) -> list[dict[str, Any]]:
    """The problems of fields, or the message."""
    located = locate_problems(error.details, form)
    has_fields = any(problem.get("path") in form for problem in located)
    return located if has_fields else [{"message": error.message}]
