"""100 ordinary flags in the format of the import API; both servers of `beside.py` take them.

Gradual rollouts (some with random stickiness), user IDs, addresses, constraints of every kind,
segments, variants and parents: a client document of about 54 kB.
"""

from typing import Any

from service import Service

FLAGS = 100
PER_IMPORT = 1000
PROJECT = "/api/admin/projects/default"
COUNTRIES = ["de", "fr", "no", "se", "fi", "dk", "nl", "be", "at", "ch", "it", "es"]
FIELDS = ("country", "email", "age", "version", "plan")


def build_constraint(field: str, operator: str, value: Any, **more: bool) -> dict[str, Any]:
    key = "values" if isinstance(value, list) else "value"
    return {"contextName": field, "operator": operator, "values": [], key: value, **more}


CONSTRAINTS = (
    build_constraint("country", "IN", COUNTRIES),
    build_constraint("country", "NOT_IN", COUNTRIES[6:]),
    build_constraint("plan", "IN", ["team", "enterprise"], inverted=True),
    build_constraint("email", "STR_ENDS_WITH", ["@Example.com"], caseInsensitive=True),
    build_constraint("email", "STR_CONTAINS", ["1", "2", "3"]),
    build_constraint("email", "STR_STARTS_WITH", ["user-0", "user-1", "user-2"]),
    build_constraint("email", "REGEX", "^user-[0-9]+@example\\.(com|org)$"),
    build_constraint("age", "NUM_EQ", "30"),
    build_constraint("age", "NUM_GT", "20"),
    build_constraint("age", "NUM_GTE", "30"),
    build_constraint("age", "NUM_LT", "40", inverted=True),
    build_constraint("age", "NUM_LTE", "40.5"),
    build_constraint("currentTime", "DATE_AFTER", "2024-05-01T00:00:00.000Z"),
    # Of another field unleash-server compares the present time too.
    build_constraint("currentTime", "DATE_BEFORE", "2099-05-01T00:00:00.000Z"),
    build_constraint("plan", "IN", ["free"], caseInsensitive=True),
    build_constraint("version", "SEMVER_EQ", "2.4.1"),
    build_constraint("version", "SEMVER_GT", "2.0.0-beta.1"),
    build_constraint("version", "SEMVER_LT", "3.0.0"),
    build_constraint("version", "SEMVER_GTE", "2.4.1"),
    build_constraint("version", "SEMVER_LTE", "2.4.1", inverted=True),
)
SEGMENTS = (
    ("nordic", [build_constraint("country", "IN", ["no", "se", "fi", "dk"])]),
    ("paying", [build_constraint("plan", "IN", ["team", "enterprise"])]),
    ("recent", [CONSTRAINTS[12], CONSTRAINTS[16]]),
)
VARIANTS = [
    {
        "name": name,
        "weight": 500,
        "weightType": "variable",
        "stickiness": "default",
        "payload": {"type": "json", "value": '{"color": "' + name + '", "size": 12}'},
    }
    for name in ("blue", "green")
]


def build_rollout(name: str, rollout: int, stickiness: str = "default") -> dict[str, Any]:
    return {
        "name": "flexibleRollout",
        "parameters": {"rollout": str(rollout), "stickiness": stickiness, "groupId": name},
    }


def build_strategies(n: int, name: str) -> list[dict[str, Any]]:
    """The strategies of a flag: ten kinds in turn."""
    constraints = [CONSTRAINTS[(n + step) % len(CONSTRAINTS)] for step in (0, 7)]
    rollout = build_rollout(name, 10 + n % 9 * 10)
    match n % 10:
        case 0:
            return [rollout]
        case 1:
            stickiness = "random" if n % 20 == 1 else "userId"
            return [build_rollout(name, 50, stickiness)]
        case 2:
            users = ",".join(f"user-{id:09}" for id in range(n, n + 20))
            return [{"name": "userWithId", "parameters": {"userIds": users}}]
        case 3:
            return [{"name": "remoteAddress", "parameters": {"IPs": f"10.0.0.{n},192.168.0.0/16"}}]
        case 4:
            return [rollout | {"segments": [n % len(SEGMENTS)]}]
        case 5 | 6:
            return [build_rollout(name, 100) | {"variants": VARIANTS, "constraints": constraints}]
        case 7:
            second = {"name": "default", "parameters": {}, "constraints": constraints[1:]}
            return [rollout | {"constraints": constraints[:1]}, second]
        case _:
            return [rollout | {"constraints": constraints}]


def build_document(segments: list[int]) -> dict[str, Any]:
    """The flags, for POST /api/admin/features-batch/import. `segments`: the IDs of SEGMENTS."""
    names = [f"flag-{n:03}" for n in range(FLAGS)]
    strategies = []
    for n, name in enumerate(names):
        for order, strategy in enumerate(build_strategies(n, name)):
            ids = [segments[index] for index in strategy.get("segments", [])]
            more = {"featureName": name, "sortOrder": order, "segments": ids}
            strategies.append({"constraints": [], "variants": []} | strategy | more)
    return {
        "features": [
            {"name": name, "type": "release", "project": "default", "description": "A flag."}
            for name in names
        ],
        "featureStrategies": strategies,
        "featureEnvironments": build_environments(names),
        "contextFields": [{"name": name} for name in FIELDS],
        "featureTags": [],
        "tagTypes": [],
        "segments": [
            {"id": id, "name": name} for id, (name, _) in zip(segments, SEGMENTS, strict=True)
        ],
        "dependencies": [
            {"feature": names[n], "dependencies": [{"feature": names[n - 4], "enabled": True}]}
            for n in range(9, FLAGS, 10)
        ],
    }


def build_environments(names: list[str]) -> list[dict[str, Any]]:
    """Enables the flags; servers read `featureName` or `name`."""
    return [
        {"name": name, "featureName": name, "environment": "development", "enabled": True}
        for name in names
    ]


def import_document(service: Service, document: dict[str, Any]) -> None:
    body = {"project": "default", "environment": "development", "data": document}
    service.send("/api/admin/features-batch/import", body)


def seed_flags(service: Service) -> None:
    """Creates the segments and the 100 flags."""
    segments = [
        service.send("/api/admin/segments", {"name": name, "constraints": constraints})["id"]
        for name, constraints in SEGMENTS
    ]
    import_document(service, build_document(segments))


def seed_plain_flags(service: Service, count: int) -> None:
    """Creates flags with three strategies each, `plain-0` first."""
    for start in range(0, count, PER_IMPORT):
        names = [f"plain-{n}" for n in range(start, min(start + PER_IMPORT, count))]
        strategies = [
            build_rollout(name, 50) | {"featureName": name, "constraints": [CONSTRAINTS[0]]}
            for name in names
            for _ in range(3)
        ]
        document = {
            "features": [{"name": name, "type": "release", "project": "default"} for name in names],
            "featureStrategies": strategies,
            "featureEnvironments": build_environments(names),
        }
        import_document(service, document)
