"""Strategies: the stored format."""

from __future__ import annotations

import msgspec
import pytest

from sigservice.errors import BadDataError, NotFoundError
from sigservice.services.flags import features, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.features import Metadata
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import SYSTEM

TARGET = FeatureEnvironment("default", "a", "development")


@pytest.fixture
def conn(service):
    """A transaction with the flag `a` that is rolled back."""
    with service.context.database.transaction() as conn:
        features.create(conn, "default", "a", Metadata(), SYSTEM)
        yield conn
        conn.rollback()


def checked(conn, **fields):
    strategy = msgspec.convert({"name": "flexibleRollout"} | fields, Strategy)
    return strategies.validate(conn, strategy, "a", project="default", max_segments=5)


def add(conn, **fields):
    strategy = msgspec.convert({"name": "default"} | fields, Strategy)
    return strategies.add(conn, TARGET, strategy, SYSTEM, max_segments=5)


def test_a_rollout_lacks_nothing(conn):
    full = {"rollout": "100", "stickiness": "default", "groupId": "a"}
    assert checked(conn)["parameters"] == full
    own = {"rollout": "7", "stickiness": "random", "groupId": "g", "extra": "x"}
    assert checked(conn, parameters=own)["parameters"] == own
    assert checked(conn, name="default", parameters={"rollout": "x"})["parameters"] == {
        "rollout": "x"
    }
    saved = checked(conn)
    assert (saved["title"], saved["disabled"], saved["segments"]) == (None, False, [])


@pytest.mark.parametrize("value", ["0", "1", "99", "100", "007", 0, 100, 5.0])
def test_rollout_percentages_from_0_to_100(conn, value):
    saved = checked(conn, parameters={"rollout": value})
    assert 0 <= int(saved["parameters"]["rollout"]) <= 100
    for type in ("Random", "UserId", "SessionId"):
        checked(conn, name=f"gradualRollout{type}", parameters={"percentage": value})
        with pytest.raises(BadDataError):
            checked(conn, name=f"gradualRollout{type}", parameters={"percentage": "101"})


def test_custom_strategy_types_are_accepted(conn):
    with conn.cursor() as cursor:
        cursor.execute("INSERT INTO strategy_types (name) VALUES ('mine')")
    assert checked(conn, name="mine", parameters={"anything": 1})["parameters"] == {"anything": "1"}
    with pytest.raises(BadDataError):
        checked(conn, name="nobodys")


def test_segments_are_sorted_once_each_and_must_exist(conn):
    with pytest.raises(NotFoundError):
        checked(conn, segments=[1])
    with pytest.raises(BadDataError):
        checked(conn, segments=list(range(6)))
    assert checked(conn, segments=[])["segments"] == []


def test_they_are_listed_in_their_order(conn):
    ids = [add(conn, sortOrder=order)["id"] for order in (5, -1, 5, 0)]
    items = [strategy["id"] for strategy in strategies.list_strategies(conn, TARGET)]
    assert (items[0], items[1], set(items[2:])) == (ids[1], ids[3], {ids[0], ids[2]})
    assert add(conn)["sortOrder"] == 6
    assert strategies.get(conn, TARGET, ids[0])["sortOrder"] == 5
    with pytest.raises(NotFoundError):
        strategies.get(conn, FeatureEnvironment("default", "a", "production"), ids[0])


@pytest.mark.parametrize(
    "target",
    [
        FeatureEnvironment("other", "a", "development"),
        FeatureEnvironment("default", "b", "development"),
        FeatureEnvironment("default", "a", "other"),
        FeatureEnvironment("", "", ""),
    ],
)
def test_unknown_strategies_raise_not_found(conn, target):
    id = add(conn)["id"]
    new = Strategy("default")
    for ask in (
        lambda: strategies.add(conn, target, new, SYSTEM, max_segments=5),
        lambda: strategies.replace(conn, target, id, new, SYSTEM, max_segments=5),
        lambda: strategies.remove(conn, target, id, SYSTEM),
        lambda: strategies.sort(conn, target, {id: 1}, SYSTEM),
        lambda: strategies.list_strategies(conn, target),
        lambda: strategies.get(conn, target, id),
    ):
        with pytest.raises(NotFoundError):
            ask()
    assert len(strategies.list_strategies(conn, TARGET)) == 1
