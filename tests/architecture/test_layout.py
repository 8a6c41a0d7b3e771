"""Rules that a test can check in the sources."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

from tests.table_tests import each

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "sigservice").rglob("*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.tpl"))

CONTRACT = configparser.ConfigParser()
CONTRACT.read(ROOT / "setup.cfg")
LAYERS = CONTRACT["importlinter:contract:layers"]["layers"].split("\n")
RANK = {
    name.strip().removeprefix("sigservice."): -n
    for n, names in enumerate(LAYERS)
    for name in names.split("|")
} | {"__main__": 1}


def find_module(path: Path) -> str:
    return path.relative_to(ROOT / "sigservice").parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Modules of the package that a file imports."""
    result = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "sigservice":
            result += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sigservice."):
            result.append(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            result += [a.name.split(".")[1] for a in node.names if a.name.startswith("sigservice.")]
    return result


@each("path", SOURCES)
def test_imports_go_down_only(path):
    own = find_module(path)
    if own == "__init__":
        return
    for other in imports(path):
        allowed = RANK[other] < RANK[own] or other == own
        assert allowed, f"{own} imports {other}"


def test_files_hold_one_concept():
    too_long = {str(p): n for p in SOURCES if (n := len(p.read_text().splitlines())) > 400}
    assert not too_long


def test_only_the_entry_reads_the_environment():
    readers = {p.stem for p in SOURCES if "os.environ" in p.read_text()}
    assert readers <= {"__main__", "service", "start", "run", "cli"}


def test_the_driver_stays_in_its_modules():
    users = {
        find_module(p)
        for p in SOURCES
        if re.search(r"^(import|from) psycopg2", p.read_text(), re.M)
    }
    assert users <= {"db", "config", "testing"}


def test_bottle_stays_in_its_modules():
    users = {
        find_module(p) for p in SOURCES if re.search(r"^(import|from) bottle", p.read_text(), re.M)
    }
    users.discard("commands")  # the shop of `sigservice demo`, an application of its own
    assert users <= {"web", "routes", "application", "relay", "render", "authentication"}


def test_no_sql_in_python_above_the_database_layer():
    pattern = re.compile(r"\.execute\(|[\"'](SELECT|INSERT INTO|UPDATE|DELETE FROM) \w")
    users = {find_module(p) for p in SOURCES if pattern.search(p.read_text())}
    assert users <= {"db", "testing"}


def test_base_is_the_only_raw_output_of_templates():
    raw = [(p.name, m) for p in TEMPLATES for m in re.findall(r"\{\{!.*?\}\}", p.read_text())]
    assert sorted(raw) == [
        ("icon.tpl", "{{!icons[name]}}"),
        *(("layout.tpl", f"{{{{!{part}}}}}") for part in ("after", "before", "end")),
    ]


def test_templates_have_no_inline_script_style_or_handler():
    pages = [path for path in TEMPLATES if path.parent.name != "demo"]  # a server of its own
    for path in pages:
        text = path.read_text()
        assert not re.search(
            r"\sstyle=|\son[a-z]+=|<style|<script(?! type=\"module\" src)", text
        ), path


def test_every_posted_form_has_a_csrf_field():
    for path in TEMPLATES:
        for form in re.findall(r"<form method=\"post\".*?</form>", path.read_text(), re.S):
            assert "partials/csrf.tpl" in form or 'name="csrf"' in form, path


def test_script_and_style_stay_small():
    assert len((ROOT / "static/app.js").read_text().splitlines()) <= 350
    (stylesheet,) = (ROOT / "static").glob("*.css")
    assert stylesheet.stat().st_size <= 40 * 1024
