"""Tables of lists: columns are declared in Python, and partials/table.tpl renders all tables."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """What a cell shows, in this order: a text, with a link if it has a path, badges, a time, and
    a `hint`. `missing` stands for an empty cell. A `template` gets the `row` and shows the rest."""

    text: str = ""
    path: str = ""
    at: datetime | None = None
    badges: Sequence[str] = ()
    hint: str = ""
    template: str = ""
    missing: str = "–"


class Column(NamedTuple):
    """`make_cell` gets the row of the database. The first column of a table names the row."""

    label: str
    make_cell: Callable[[Any], Cell]


class TableRow(NamedTuple):
    """`name` tells apart the links of several rows, and `links` are the labels and paths of its
    menu."""

    row: Mapping[str, Any]
    name: str
    cells: Sequence[Cell]
    links: Sequence[tuple[str, str]]


class Table(NamedTuple):
    id: str
    labels: Sequence[str]
    rows: Sequence[TableRow]


def make_table(
    id: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    make_links: Callable[[Any], Sequence[tuple[str, str]]],
    make_name: Callable[[Any], str],
) -> Table:
    return Table(
        id,
        [column.label for column in columns],
        [
            TableRow(
                row, make_name(row), [column.make_cell(row) for column in columns], make_links(row)
            )
            for row in rows
        ],
    )
