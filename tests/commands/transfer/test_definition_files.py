"""What is in files of definitions, and the lines of their problems."""

from __future__ import annotations

import time

import pytest

from sigservice.commands.transfer.definition_files import FileError, read_documents

FLAG = """version: 1
flags:
  NO:
    description: {value}
"""


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return [document.value for document in read_documents("f.yaml", data)]


@pytest.mark.parametrize(
    "text", ["NO", "on", "1.10", "0123", "1e3", "2026-12-24", "true", "0x1F", "1_000", "12:30:45"]
)
def test_a_text_stays_as_it_is_written(text):
    (document,) = read(FLAG.format(value=text))
    assert document["flags"] == {"NO": {"description": text}}


@pytest.mark.parametrize("text", ["", "~", "null"])
def test_nothing_is_null(text):
    assert read(FLAG.format(value=text))[0]["flags"]["NO"] == {"description": None}


def test_switches_and_numbers_are_what_they_are():
    (document,) = read(
        "version: 1\ncontextFields: {country: {stickiness: on}}\nflags: {a: {stale: true, "
        "environments: {production: off, order: {enabled: on, rollout: 25, strategies: [{"
        "stickiness: on, parameters: {enabled: on, rollout: 30}, "
        "constraints: [{order: [1, on]}], variants: [{name: 7, weight: 33.3}]}]}}}}"
    )
    assert document["version"] == 1
    assert document["contextFields"] == {"country": {"stickiness": True}}
    flag = document["flags"]["a"]
    assert (flag["stale"], flag["environments"]["production"]) == (True, False)
    place = flag["environments"]["order"]
    assert (place["enabled"], place["rollout"]) == (True, 25)
    (strategy,) = place["strategies"]
    assert strategy["stickiness"] == "on"
    assert strategy["parameters"] == {"enabled": "on", "rollout": "30"}
    assert strategy["constraints"] == [{"order": ["1", "on"]}]
    assert strategy["variants"] == [{"name": "7", "weight": 33.3}]


@pytest.mark.parametrize("switch", ["yes", "no", "On"])
def test_another_word_is_no_switch(switch):
    assert read(f"flags: {{a: {{stale: {switch}}}}}") == [{"flags": {"a": {"stale": switch}}}]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("version: 1\n---\nversion: 1", 2),
        ('[{"version": 1}, {"version": 1}]', 2),
        ("\ufeffversion: 1\r\n# comment\r\n", 1),
        ('{\n\t"version":\t1\n}', 1),
        ('{"a": "\\ud83d\\ude00 \\n"}', 1),
    ],
)
def test_several_documents_comments_and_indentation_are_allowed(text, count):
    assert len(read(text)) == count


def test_aliases_are_copies():
    text = "flags:\n  a: {environments: &e {production: on}}\n  b: {environments: *e}"
    flags = read(text)[0]["flags"]
    assert flags["a"] == flags["b"] == {"environments": {"production": True}}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "There is no document."),
        ("# nothing\n", 1, "There is no document."),
        ("a: 1\nb: 2\na: 3", 3, "a appears twice."),
        ('{"a": 1,\n "a": 2}', 2, "a appears twice."),
        ("a: *b", 1, "The alias b has no anchor before it, or is inside of it."),
        ("a: &a\n  - *a", 2, "The alias a has no anchor before it, or is inside of it."),
        ("a: &x 1\n---\nb: *x", 3, "The alias x has no anchor before it, or is inside of it."),
        ("a:\n\tb: 1", 2, "found character '\\t' that cannot start any token"),
        ("a:\n  b: !env X", 2, "Tags such as !env aren't supported."),
        ("a: !!str 1", 1, "Tags such as tag:yaml.org,2002:str aren't supported."),
        ("a: {}\n<<: {}", 2, "<< is not part of YAML 1.2."),
        ("%YAML 1.1\n---\na: 1", 2, "The YAML must be of version 1.2."),
        ("? [a]\n: 1", 1, "A name must be a text."),
        (b"a: 1\nb: \xff", 2, "The file is not UTF-8."),
        ("a: 1\nb: \x01", 2, "The file contains a control character."),
        ('a: "\\0"', 1, "The text contains a control character."),
        ('a: "\\ud800"', 1, "The text contains a control character."),
        ("a: " + "[" * 64 + "]" * 64, 1, "The file is nested deeper than 64 levels."),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text, line, message):
    with pytest.raises(FileError) as caught:
        read(text)
    assert (caught.value.line, caught.value.message) == (line, message)


def test_an_alias_bomb_is_refused_before_it_is_built():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 12):
        aliases = ", ".join([f"*a{n - 1}"] * 10)
        lines.append(f"a{n}: &a{n} [{aliases}]")
    start = time.process_time()
    with pytest.raises(FileError, match="more than 1000000 values"):
        read("\n".join(lines))
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (".flags.a.typ", 4),
        (".flags.a.tags[1]", 7),
        ('.flags["b.c"].environments.production.rollout', 9),
        (".flags.missing", 2),
        ("", 1),
    ],
)
def test_a_path_has_a_line(path, line):
    text = """version: 1
flags:
  a:
    typ: x
    tags:
      - one
      - two
  "b.c":
    environments: {production: {rollout: 1}}
"""
    (document,) = read_documents("f.yaml", text.encode())
    assert document.find_line(path) == line
