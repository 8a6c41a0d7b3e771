"""JSON Patch: whatever is sent, the answer is a checked document or a refusal."""

from __future__ import annotations

import copy
import random
import time

import pytest

from sigservice.errors import BadDataError
from sigservice.services.flags.strategies import Strategy
from sigservice.web.body import to_struct
from sigservice.web.json_patch import Patch, apply_patch
from tests.table_tests import each

DOCUMENT = {
    "id": "x",
    "name": "flexibleRollout",
    "title": None,
    "sortOrder": 1,
    "parameters": {"rollout": "5", "": "empty", "a/b~": "odd"},
    "constraints": [{"contextName": "a", "operator": "IN", "values": ["1", "2"]}],
    "variants": [],
    "segments": [1, 2],
}
OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"]
KEYS = ["", *DOCUMENT, "0", "1", "-", "~0", "~1", "~", "01", "-1", "9" * 30, "9" * 5000, "١", "é"]
KEYS += ["__class__", "values", "rollout", "1.0", " 0", "1e1", "+1"]
VALUES = [None, True, 1.5, 10**30, "x", [], {}, [[1]], {"a": {"b": []}}, DOCUMENT["constraints"][0]]


def patched(*steps):
    return apply_patch(to_struct(list(steps), Patch), DOCUMENT, Strategy)


def pointer(dice):
    if dice.random() < 0.1:
        return dice.choice(["", "/", "x", "#/a", "//", "/~", "/~01"])
    return "".join("/" + dice.choice(KEYS) for _ in range(dice.choice([1, 1, 2, 2, 3, 4])))


def step(dice):
    result = {"op": dice.choice(OPERATIONS), "path": pointer(dice)}
    if dice.random() < 0.8:
        result |= {"value": dice.choice(VALUES), "from": pointer(dice)}
    return result


@each("seed", range(10))
def test_nothing_but_a_refusal_is_ever_raised(seed):
    dice, before, done, refused = random.Random(seed), copy.deepcopy(DOCUMENT), 0, 0
    for _ in range(400):
        try:
            patched(*(step(dice) for _ in range(dice.choice([1, 1, 2, 3]))))
            done += 1
        except BadDataError:
            refused += 1
    assert done, "no patch ever worked"
    assert done + refused == 400
    assert before == DOCUMENT


def test_pointers_are_unescaped():
    changed = patched({"op": "replace", "path": "/parameters/a~1b~0", "value": "new"})
    assert changed.parameters["a/b~"] == "new"
    changed = patched({"op": "remove", "path": "/parameters/"})
    assert "" not in changed.parameters


@pytest.mark.parametrize(
    "steps",
    [
        [{"op": "copy", "from": "/segments", "path": "/x"}] * 101,
        [{"op": "copy", "from": "/constraints", "path": "/constraints/-"}] * 60,
        [{"op": "replace", "path": "", "value": {}}]
        + [{"op": "copy", "from": "", "path": "/a"}] * 99,
    ],
)
def test_a_patch_does_not_grow_without_end(steps):
    began = time.thread_time()
    with pytest.raises(BadDataError):
        patched(*steps)
    assert time.thread_time() - began < 2


def test_a_patch_does_not_nest_without_end():
    value, depth, steps = {}, 50, []
    for _ in range(depth):
        value = {"a": value}
    steps.append({"op": "add", "path": "/x", "value": value})
    for _ in range(7):
        steps.append({"op": "copy", "from": "/x", "path": "/x" + "/a" * depth})
        depth *= 2
    with pytest.raises(BadDataError, match="deep"):
        patched(*steps)


def test_fields_that_sdks_do_not_know_are_dropped():
    assert patched({"op": "add", "path": "/unknown", "value": [1]}).name == "flexibleRollout"
