"""Tables of lists: columns are declared in Python, and partials/table.tpl renders all tables."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sigservice.web.respond import Page


class Cell(NamedTuple):
    """The content of a cell, in this order: a text, with a link if it has a path and with a `title`
    if it isn't the whole, badges, a state with its style, a time in its form, and a `hint`.
    `missing` stands for an empty cell. A `template` gets the `row` and shows the rest."""

    text: str = ""
    path: str = ""
    at: datetime | None = None
    time_form: str = ""
    title: str = ""
    badges: Sequence[str] = ()
    state: tuple[str, str] | None = None
    hint: str = ""
    template: str = ""
    missing: str = "–"


class Column(NamedTuple):
    """`make_cell` gets the row of the database. The first column of a table names the row."""

    label: str
    make_cell: Callable[[Any], Cell]


class TableRow(NamedTuple):
    """`name` distinguishes the links of several rows; `links` are the labels and paths of the
    menu."""

    row: Mapping[str, Any]
    name: str
    cells: Sequence[Cell]
    links: Sequence[tuple[str, str]]


class Table(NamedTuple):
    """`empty` replaces a table without rows. A `title` makes it a section of its page, which has a
    `hint` and a button with the label and path of `new`."""

    id: str
    labels: Sequence[str]
    rows: Sequence[TableRow]
    has_links: bool
    empty: str = ""
    title: str = ""
    hint: str = ""
    new: tuple[str, str] | None = None


def make_table(
    id: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    make_links: Callable[[Any], Sequence[tuple[str, str]]] | None,
    make_name: Callable[[Any], str],
    **values: Any,
) -> Table:
    """Makes a table. Without `make_links` the rows have no menu. `values` are further members of
    the table."""
    return Table(
        id,
        [column.label for column in columns],
        [
            TableRow(
                row,
                make_name(row),
                [column.make_cell(row) for column in columns],
                make_links(row) if make_links else (),
            )
            for row in rows
        ],
        make_links is not None,
        **values,
    )


def make_list_page(
    tables: Sequence[Table],
    *,
    title: str,
    hint: str = "",
    new: tuple[str, str] | None = None,
    **values: Any,
) -> Page:
    """A page with only tables. `new` are the label and path of the button beside its heading."""
    return Page("list", title=title, hint=hint, new=new, tables=tables, **values)
