"""Numbers with their nouns."""

import pytest

from sigservice.wording import plural


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 flags"), (1, "1 flag"), (2, "2 flags"), (1234, "1,234 flags")]
)
def test_plural_has_an_s_unless_there_is_one(count: int, text: str):
    assert plural(count, "flag") == text
