"""Changes the code of the service in small ways ("mutants") and reports those that no test sees.

    .venv/bin/python tests/mutants.py --functions 40 --last tests/pages tests/routes tests/pages

One mutant for each statement of sql/queries that these tests execute, and 40 random ones of the
functions in sigservice/services (or in `--code`). One process runs each test once, noting what it
calls, and then for each mutant the tests that call it, until one fails. With `--last`, mutants are
of what these tests call, and they run after all others: what only they see would be lost with them.
It takes minutes, so it is no part of a run of the tests.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import random
import re
import signal
import sys
import threading
import types
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402
from _pytest.runner import runtestprotocol  # noqa: E402

from sigservice.db import queries  # noqa: E402

SERVICES = "sigservice/services"
SECONDS = 30  # for one test, which a mutant may let hang

# What is replaced in a statement, and by what.
SQL = (
    (r"(?<![<>=!:])=(?![=>])", "<>"),
    (r"(?<![-<>])<=", "<"),
    (r"(?<![-<>=])>=", ">"),
    (r"(?<![-<>@])<(?![<>=@])", "<="),
    (r"(?<![-<>=@])>(?![>=])", ">="),
    (r"\n\s*AND (?:[^\n()]|\([^\n()]*\))*(?=\n|$)", ""),
    (r"\bAND\b", "OR"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bIS NULL\b", "IS NOT NULL"),
    (r" DESC\b", ""),
    (r"\bLEFT JOIN\b(?! LATERAL)", "JOIN"),
    (r"\bDISTINCT\b(?! ON)", ""),
    (r"\bcoalesce\((%\(\w+\)s|[\w.]+), [^()]*\)", r"\1"),
    (r"\bNOT (?=\w)", ""),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
)
SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Mutant:
    """`key` is what a test must call to see it."""

    def __init__(self, key: str, text: str) -> None:
        self.key, self.text = key, text

    @contextmanager
    def active(self) -> Iterator[None]:
        raise NotImplementedError


class Statements(dict[str, str]):
    """The statements of a file, whose uses are noted."""

    calls: set[str] = set()
    mutant: StatementMutant | None = None

    def __init__(self, path: str, statements: Any) -> None:
        super().__init__(statements)
        self.path = path

    def __getitem__(self, name: str) -> str:
        key = f"{self.path}.sql {name}"
        Statements.calls.add(key)
        mutant = Statements.mutant
        return mutant.mutation if mutant and mutant.key == key else super().__getitem__(name)


class StatementMutant(Mutant):
    def __init__(self, key: str, text: str, mutation: str) -> None:
        super().__init__(key, text)
        self.mutation = mutation

    @contextmanager
    def active(self) -> Iterator[None]:
        Statements.mutant = self
        try:
            yield
        finally:
            Statements.mutant = None


class FunctionMutant(Mutant):
    def __init__(self, key: str, text: str, code: types.CodeType) -> None:
        super().__init__(key, text)
        self._code = code

    @contextmanager
    def active(self) -> Iterator[None]:
        functions = [
            item
            for item in gc.get_objects()
            if isinstance(item, types.FunctionType)
            and to_key(item.__code__) == self.key
            and item.__code__.co_freevars == self._code.co_freevars
        ]
        before = [function.__code__ for function in functions]
        for function in functions:
            function.__code__ = self._code
        try:
            yield
        finally:
            for function, code in zip(functions, before, strict=True):
                function.__code__ = code


def to_key(code: types.CodeType) -> str:
    return f"{code.co_filename.removeprefix(f'{ROOT}/')} {code.co_qualname}"


def mutate_statement(key: str, choice: random.Random) -> Mutant | None:
    """One of its mutants, or None if there is nothing to change."""
    path, name = key.split(".sql ")
    statement = queries.load(path)[name]
    options = [
        (match, replacement) for old, replacement in SQL for match in re.finditer(old, statement)
    ]
    if not options:
        return None
    match, replacement = choice.choice(options)
    new = match.expand(replacement)
    mutation = queries.Statement(statement[: match.start()] + new + statement[match.end() :])
    for attribute in ("store", "action", "is_hot"):
        setattr(mutation, attribute, getattr(statement, attribute))
    line = statement.count("\n", 0, match.start() + 1)
    around = statement.splitlines()[line].strip()
    return StatementMutant(
        key, f"{match[0].strip()} -> {new.strip() or 'nothing'} in: {around}", mutation
    )


def list_changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str, Any]]:
    """What to set in which field of which node, with a name of the change."""
    for item in ast.walk(node):
        match item:
            case ast.Compare(ops=[operator, *rest]) if type(operator) in SWAPS:
                yield "comparison", item, "ops", [SWAPS[type(operator)](), *rest]
            case ast.BoolOp():
                yield "and/or", item, "op", ast.Or() if isinstance(item.op, ast.And) else ast.And()
            case ast.If() | ast.IfExp():
                yield "condition", item, "test", ast.UnaryOp(ast.Not(), item.test)
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                yield "boundary", item, "value", number + 1
            case ast.Dict(keys=[ast.Constant(value=str(name)) as first, *rest]):
                yield "member", first, "value", f"{name}X"
            case ast.Expr(value=ast.Call()):
                yield "removed call", item, "value", ast.Constant(None)
            case ast.Call(args=[first, second, *rest]):
                yield "swapped arguments", item, "args", [second, first, *rest]


def mutate_functions(keys: set[str], count: int, choice: random.Random) -> list[Mutant]:
    """`count` mutants of these functions."""
    options = []
    for file in sorted({key.split()[0] for key in keys}):
        text = (ROOT / file).read_text()
        tree = ast.parse(text)
        for name, function in list_functions(tree):
            if f"{file} {name}" in keys:
                options += [(f"{file} {name}", tree, *change) for change in list_changes(function)]
    mutants: list[Mutant] = []
    for key, tree, kind, node, field, value in choice.sample(options, min(count, len(options))):
        before, line = getattr(node, field), getattr(node, "lineno", 0)
        setattr(node, field, value)
        module = compile(ast.fix_missing_locations(tree), str(ROOT / key.split()[0]), "exec")
        setattr(node, field, before)
        source = (ROOT / key.split()[0]).read_text().splitlines()[line - 1].strip()
        code = find_code(module, key)
        if code:
            mutants.append(FunctionMutant(key, f"{kind} in line {line}: {source}", code))
    return mutants


def list_functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The functions and methods of a module with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.Module(node.body, [])
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield f"{node.name}.{method.name}", ast.Module(method.body, [])


def find_code(code: types.CodeType, key: str) -> types.CodeType | None:
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            inner = item if to_key(item) == key else find_code(item, key)
            if inner:
                return inner
    return None


class Plugin:
    """Runs the tests once, and then those that a mutant needs."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._code = tuple(f"{path.rstrip('/')}/" for path in arguments.code or [SERVICES])
        self._tests: dict[str, list[Any]] = defaultdict(list)
        self._called: set[str] = set()
        self._keys: dict[types.CodeType, str] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()
        signal.signal(signal.SIGALRM, give_up)
        seconds: dict[Any, float] = {}
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self._called.clear()
            Statements.calls.clear()
            sys.setprofile(self._note)
            threading.setprofile(self._note)
            has_failed, seconds[item] = run_test(item, following)
            sys.setprofile(None)
            threading.setprofile(None)
            if has_failed:
                print(f"fails without a mutant: {item.nodeid}", flush=True)
                continue
            for key in self._called | Statements.calls:
                self._tests[key].append(item)
        survivors, seen_last = [], []
        mutants = self._make_mutants()
        for number, mutant in enumerate(mutants, 1):
            tests = self._choose_tests(mutant.key, seconds)
            with mutant.active():
                killer = next((test for test in tests if run_test(test)[0]), None)
            if killer and run_test(killer)[0]:
                print(f"fails without a mutant: {killer.nodeid}", flush=True)
                killer = None
            if killer is None:
                survivors.append(mutant)
            elif self._is_last(killer):
                seen_last.append(mutant)
            end = f"killed by {killer.nodeid}" if killer else f"SURVIVES {len(tests)} tests"
            print(f"{number}/{len(mutants)} {mutant.key}: {mutant.text}\n    {end}", flush=True)
        print(
            f"{len(mutants) - len(survivors)} of {len(mutants)} mutants killed, "
            f"{len(seen_last)} of them only by --last"
        )
        return True

    def _note(self, frame: types.FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            key = self._keys.get(code)
            if key is None:
                key = to_key(code)
                key = self._keys[code] = key if key.startswith(self._code) else ""
            if key:
                self._called.add(key)

    def _make_mutants(self) -> list[Mutant]:
        choice = random.Random(self._arguments.seed)
        last = self._arguments.last
        called = {
            k for k, tests in self._tests.items() if not last or any(map(self._is_last, tests))
        }
        keys = {key for key in called if ".py " in key}
        statements = sorted(key for key in called if ".sql " in key)
        selection = choice.sample(statements, min(self._arguments.statements, len(statements)))
        mutants = [mutate_statement(key, choice) for key in selection * self._arguments.each]
        return [m for m in mutants if m] + mutate_functions(keys, self._arguments.functions, choice)

    def _is_last(self, item: Any) -> bool:
        return any(item.nodeid.startswith(path) for path in self._arguments.last)

    def _choose_tests(self, key: str, seconds: dict[Any, float]) -> list[Any]:
        """The quickest ones of both groups, one per file first."""
        groups: tuple[list[Any], list[Any]] = ([], [])
        for item in sorted(self._tests[key], key=seconds.__getitem__):
            groups[self._is_last(item)].append(item)
        return [item for group in groups for item in spread(group)[: self._arguments.tests]]


def spread(items: list[Any]) -> list[Any]:
    """The first item of each file, then the second of each, and so on."""
    numbers: dict[str, int] = defaultdict(int)
    turns = []
    for item in items:
        numbers[item.path] += 1
        turns.append((numbers[item.path], len(turns), item))
    return [item for *_, item in sorted(turns, key=lambda turn: turn[:2])]


def run_test(item: Any, following: Any = None) -> tuple[bool, float]:
    """Whether the test fails, and its seconds. Fixtures of the session stay."""
    item._initrequest()
    signal.alarm(SECONDS)
    try:
        reports = runtestprotocol(item, log=False, nextitem=following or item.session)
    finally:
        signal.alarm(0)
    return any(report.failed for report in reports), sum(report.duration for report in reports)


def give_up(*_: Any) -> None:
    raise TimeoutError("the test hangs")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--statements", type=int, default=1000)
    parser.add_argument("--each", type=int, default=1, help="mutants of a statement")
    parser.add_argument("--functions", type=int, default=40)
    parser.add_argument("--code", action="append", help=f"in place of {SERVICES}")
    parser.add_argument("--tests", type=int, default=25, help="at most, for each mutant")
    parser.add_argument("--last", action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    original = queries.load
    files: dict[str, Statements] = {}
    queries.load = lambda path: files.setdefault(path, Statements(path, original(path)))
    os.chdir(ROOT)
    pytest.main(
        [
            "-n",
            "0",
            "-m",
            "not external",
            "-p",
            "no:cacheprovider",
            "--log-level=CRITICAL",
            *arguments.paths,
        ],
        [Plugin(arguments)],
    )


if __name__ == "__main__":
    main()
