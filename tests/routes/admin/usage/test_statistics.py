"""Statistics of the installation."""

from __future__ import annotations

import csv
import io

from tests.conftest import ADMIN
from tests.routes.sdk import CLIENT, Sdk

PATH = "/api/admin/instance-admin/statistics"


def test_statistics_count_everything(make_service, database):
    sdk = Sdk(make_service, database)
    ((instance,),) = sdk.rows("SELECT value ->> 'id' FROM settings WHERE key = 'instance'")
    sdk.rows("UPDATE features SET archived_at = now() WHERE name = 'two'")
    sdk.rows(
        "INSERT INTO feature_strategies (id, feature, environment, name, sort_order, constraints) "
        "VALUES ('a', 'one', 'development', 'default', 1, '[]'), "
        """('b', 'one', 'development', 'default', 2, '[{"values": ["x", "y"]}, {"value": "z"}]')"""
    )
    sdk.rows(
        "INSERT INTO client_applications (app_name, seen_at) "
        "VALUES ('new', now()), ('old', now() - interval '8 days'), ('dead', 'epoch')"
    )
    sdk.rows(
        "INSERT INTO client_metrics VALUES ('one', 'new', 'development', "
        "date_trunc('day', now(), 'UTC') - interval '1 hour', 1, 1)"
    )
    statistics = sdk.web.get(PATH, headers=ADMIN).json
    assert statistics["instanceId"] == instance
    assert statistics["timestamp"].endswith("Z")
    assert (statistics["users"], statistics["readOnlyUsers"], statistics["roles"]) == (1, 0, 3)
    assert (statistics["featureToggles"], statistics["projects"], statistics["environments"]) == (
        1,
        1,
        3,
    )
    assert statistics["apiTokens"] == {"admin": 1, "client": 2, "frontend": 1}
    assert statistics["clientApps"] == [
        {"range": "allTime", "count": 3},
        {"range": "30d", "count": 2},
        {"range": "7d", "count": 1},
    ]
    assert statistics["previousDayMetricsBucketsCount"] == {"enabledCount": 1, "variantCount": 0}
    maxima = ("maxEnvironmentStrategies", "maxConstraints", "maxConstraintValues")
    assert [statistics[name] for name in maxima] == [2, 2, 2]
    answer = sdk.web.get(f"{PATH}/csv", headers=ADMIN)
    assert answer.content_type == "text/csv"
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["instanceId"], row["apiTokens.client"], row["clientApps.30d"]) == (
        instance,
        "2",
        "2",
    )
    for path in (PATH, f"{PATH}/csv"):
        sdk.web.get(path, status=401)
        sdk.web.get(path, headers=CLIENT, status=403)
    sdk.close()


def test_statistics_of_an_empty_service_are_zero(web):
    statistics = web.get(PATH, headers=ADMIN).json
    assert (statistics["featureToggles"], statistics["maxConstraintValues"]) == (0, 0)
