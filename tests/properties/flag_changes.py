"""Random changes of everything that SDKs can see, through the admin API."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from typing import Any

import webtest

from sigservice.application.service import Service
from sigservice.errors import NotFoundError
from sigservice.services import revisions
from sigservice.services.flags import feature_switches, features, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import SYSTEM
from sigservice.services.projects import environments
from sigservice.services.transfer import snapshot_import, snapshots
from sigservice.services.transfer.snapshot_import import ImportLimits
from tests.conftest import ADMIN

ENVIRONMENTS = ("development", "production")
PROJECTS = ("default", "shop")
NAMES = tuple(f"flag-{n}" for n in range(12))
TAGS = (("simple", "red"), ("simple", "blue"), ("kind", "pink"))
CONSTRAINTS = (
    {"contextName": "userId", "operator": "IN", "values": ["7", "8"]},
    {"contextName": "plan", "operator": "NOT_IN", "values": ["free"]},
    {"contextName": "region", "operator": "STR_CONTAINS", "values": ["é\n"]},
)
VARIANT = {"name": "blue", "weight": 1000, "weightType": "variable", "stickiness": "default"}
LIMITS = ImportLimits(1000, 5)


class Changes:
    """`make` makes a random change in one of the processes. A change that isn't possible at the
    moment is refused and changes nothing."""

    def __init__(self, services: Sequence[Service], seed: int) -> None:
        self.random = random.Random(seed)
        self._services = services
        self._webs = [webtest.TestApp(service.app) for service in services]
        self.kinds = [name for name in dir(self) if name.startswith("change_")]
        self._send("POST", "projects", {"id": "shop", "name": "Shop"})

    def make(self, kind: str | None = None) -> str:
        kind = kind or self.random.choice(self.kinds)
        getattr(self, kind)()
        return kind

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        web = self.random.choice(self._webs)
        arguments = {"headers": ADMIN, "expect_errors": True}
        if method in ("GET", "DELETE"):
            answer = getattr(web, method.lower())(f"/api/admin/{path}", **arguments)
        else:
            send = getattr(web, f"{method.lower()}_json")
            answer = send(f"/api/admin/{path}", body or {}, **arguments)
        assert answer.status_code < 500, answer
        is_json = answer.status_code < 300 and answer.body and "json" in answer.content_type
        return answer.json if is_json else {}

    def _pick(self) -> tuple[str, str, str]:
        """A flag, its path if it is in a project, and an environment."""
        name = self.random.choice(NAMES)
        project = self._find_project(name)
        return name, f"projects/{project}/features/{name}", self.random.choice(ENVIRONMENTS)

    def _find_project(self, name: str) -> str:
        return PROJECTS[NAMES.index(name) % 2]

    def _list_strategies(self, path: str, environment: str) -> list[dict[str, Any]]:
        return list(self._send("GET", f"{path}/environments/{environment}/strategies") or ())

    def _list_segments(self) -> list[int]:
        return [it["id"] for it in self._send("GET", "segments")["segments"]]

    def _build_strategy(self) -> dict[str, Any]:
        ids = self._list_segments()
        return {
            "name": self.random.choice(("default", "flexibleRollout", "userWithId")),
            "parameters": {"rollout": str(self.random.randrange(101)), "userIds": "7,9"},
            "constraints": self.random.sample(CONSTRAINTS, self.random.randrange(3)),
            "segments": self.random.sample(ids, min(len(ids), self.random.randrange(3))),
            "variants": [VARIANT] * self.random.randrange(2),
            "disabled": self.random.random() < 0.2,
        }

    def change_create(self) -> None:
        for name in self.random.sample(NAMES, 3):
            self._send("POST", f"projects/{self._find_project(name)}/features", {"name": name})

    def change_metadata(self) -> None:
        _, path, _ = self._pick()
        text = f"Text {self.random.random()}\n"
        self._send("PUT", path, {"description": text, "type": "experiment"})
        patch = [{"op": "replace", "path": "/impressionData", "value": True}]
        self._send("PATCH", path, patch)

    def change_archive(self) -> None:
        _, path, _ = self._pick()
        self._send("DELETE", path)

    def change_revive(self) -> None:
        for name in self.random.sample(NAMES, 4):
            self._send("POST", f"archive/revive/{name}")

    def change_delete(self) -> None:
        name, path, _ = self._pick()
        self._send("DELETE", path)
        self._send("DELETE", f"archive/{name}")

    def change_clone(self) -> None:
        _, path, _ = self._pick()
        other = self.random.choice([it for it in NAMES if self._find_project(it) in path])
        if self.random.random() < 0.5:  # a name that is free
            self._send("DELETE", f"projects/{self._find_project(other)}/features/{other}")
            self._send("DELETE", f"archive/{other}")
        self._send("POST", f"{path}/clone", {"name": other})

    def change_stale(self) -> None:
        name, _, _ = self._pick()
        body = {"features": [name], "stale": self.random.random() < 0.5}
        self._send("POST", f"projects/{self._find_project(name)}/stale", body)

    def change_switch(self) -> None:
        _, path, environment = self._pick()
        state = self.random.choice(("on", "off"))
        self._send("POST", f"{path}/environments/{environment}/{state}")

    def change_switches(self) -> None:
        name, _, environment = self._pick()
        path = f"projects/{self._find_project(name)}/bulk_features/environments/{environment}"
        self._send("POST", f"{path}/{self.random.choice(('on', 'off'))}", {"features": [name]})

    def change_activate(self) -> None:
        name, path, environment = self._pick()
        self._send("POST", f"{path}/environments/{environment}/off")
        existing = self._list_strategies(path, environment)
        for strategy in existing:
            patch = [{"op": "replace", "path": "/disabled", "value": True}]
            self._send(
                "PATCH", f"{path}/environments/{environment}/strategies/{strategy['id']}", patch
            )
        target = FeatureEnvironment(self._find_project(name), name, environment)
        if existing:
            with self._services[0].context.database.transaction() as conn:
                feature_switches.switch(conn, target, True, SYSTEM, activate_disabled=True)

    def change_add_strategy(self) -> None:
        _, path, environment = self._pick()
        self._send("POST", f"{path}/environments/{environment}/strategies", self._build_strategy())

    def change_strategy(self) -> None:
        _, path, environment = self._pick()
        for strategy in self._list_strategies(path, environment)[:1]:
            one = f"{path}/environments/{environment}/strategies/{strategy['id']}"
            self._send("PUT", one, self._build_strategy())

    def change_parameters(self) -> None:
        """As releases and actions do."""
        name, path, environment = self._pick()
        target = FeatureEnvironment(self._find_project(name), name, environment)
        for strategy in self._list_strategies(path, environment)[:1]:
            rollout = str(self.random.randrange(101))
            with self._services[0].context.database.transaction() as conn:
                revisions.lock(conn)
                parameters = {"rollout": rollout}
                strategies.set_parameters(conn, target, strategy["id"], parameters, SYSTEM)

    def change_permanent(self) -> None:
        """As the list of flags does."""
        name, _, _ = self._pick()
        with (
            contextlib.suppress(NotFoundError),
            self._services[0].context.database.transaction() as conn,
        ):
            features.mark_permanent(conn, self._find_project(name), [name], SYSTEM)

    def change_apply(self) -> None:
        tag = self.random.choice(("simple:red", "simple:blue"))
        flags = {name: {"tags": [tag]} for name in NAMES[:3]}
        document = {"version": 1, "project": "default", "flags": flags}
        self._send("POST", "apply", {"documents": [document], "source": "files", "adopt": True})

    def change_remove_strategy(self) -> None:
        _, path, environment = self._pick()
        for strategy in self._list_strategies(path, environment)[:1]:
            self._send("DELETE", f"{path}/environments/{environment}/strategies/{strategy['id']}")

    def change_order(self) -> None:
        _, path, environment = self._pick()
        ids = [strategy["id"] for strategy in self._list_strategies(path, environment)]
        self.random.shuffle(ids)
        body = [{"id": id, "sortOrder": order} for order, id in enumerate(ids)]
        self._send("POST", f"{path}/environments/{environment}/strategies/set-sort-order", body)

    def change_variants(self) -> None:
        _, path, environment = self._pick()
        variants = [VARIANT] * self.random.randrange(2)
        self._send("PUT", f"{path}/environments/{environment}/variants", variants)

    def change_parent(self) -> None:
        name, path, _ = self._pick()
        parents = [it for it in NAMES if self._find_project(it) == self._find_project(name)]
        body = {"feature": self.random.choice(parents), "enabled": self.random.random() < 0.7}
        self._send("POST", f"{path}/dependencies", body)

    def change_no_parent(self) -> None:
        name, path, _ = self._pick()
        if self.random.random() < 0.5:  # one that has a parent
            parent = NAMES[(NAMES.index(name) + 2) % len(NAMES)]
            self._send("POST", f"{path}/dependencies", {"feature": parent})
        for dependency in self._send("GET", path).get("dependencies", ()):
            self._send("DELETE", f"{path}/dependencies/{dependency['feature']}")
        self._send("DELETE", f"{path}/dependencies")

    def change_tags(self) -> None:
        name, _, _ = self._pick()
        tags = [{"type": type, "value": value} for type, value in self.random.sample(TAGS, 2)]
        self._send("POST", "tag-types", {"name": "kind"})
        self._send("PUT", f"features/{name}/tags", {"addedTags": tags[:1], "removedTags": tags[1:]})

    def change_delete_tag(self) -> None:
        type, value = self.random.choice(TAGS)
        self._send("DELETE", f"tags/{type}/{value}")
        if self.random.random() < 0.3:
            self._send("DELETE", "tag-types/kind")

    def change_segment(self) -> None:
        constraints = self.random.sample(CONSTRAINTS, self.random.randrange(3))
        body = {"name": f"segment-{self.random.randrange(5)}", "constraints": constraints}
        for id in self._list_segments()[self.random.randrange(3) :][:1]:
            self._send("PUT", f"segments/{id}", body)
        self._send("POST", "segments", body)

    def change_delete_segment(self) -> None:
        self._send("POST", "segments", {"name": "segment-unused", "constraints": []})
        for id in self._list_segments():
            self._send("DELETE", f"segments/{id}")

    def change_link(self) -> None:
        project, environment = self.random.choice(PROJECTS), self.random.choice(ENVIRONMENTS)
        self._send("DELETE", f"projects/{project}/environments/{environment}")
        self._send("POST", f"projects/{project}/environments", {"environment": environment})

    def change_environment(self) -> None:
        self._send("POST", "environments", {"name": "spare", "type": "test"})
        self._send("DELETE", "environments/spare")
        with self._services[0].context.database.transaction() as conn:
            environments.apply_enabled_environments(conn, ENVIRONMENTS, _Quiet())

    def change_project(self) -> None:
        body = {"id": "spare", "name": "Spare", "environments": list(ENVIRONMENTS)}
        self._send("POST", "projects", body)
        self._send("POST", "projects/spare/features", {"name": "flag-of-spare"})
        self._send("DELETE", "projects/spare/features/flag-of-spare")
        self._send("DELETE", "projects/spare")

    def change_import(self) -> None:
        """Brings a snapshot of the present back later, which adds and replaces."""
        with self._services[0].context.database.transaction(snapshot=True) as conn:
            snapshot = snapshots.read_snapshot(conn)
        self.change_tags()
        self.change_no_parent()
        for _ in range(3):
            self.make(self.random.choice([it for it in self.kinds if "import" not in it]))
        with self._services[-1].context.database.transaction() as conn:
            snapshot_import.import_snapshot(conn, snapshot, SYSTEM, LIMITS, lenient=True)

    def change_import_features(self) -> None:
        name = NAMES[0]
        data = {
            "features": [{"name": name, "type": self.random.choice(("release", "kill-switch"))}],
            "featureStrategies": [{"featureName": name, "name": "default"}],
            "featureEnvironments": [{"featureName": name, "enabled": self.random.random() < 0.5}],
        }
        body = {"project": "default", "environment": "development", "data": data}
        self._send("POST", "features-batch/import", body)

    def create_token(self, project: str) -> str:
        body = {"tokenName": "t", "type": "client", "environment": "development"}
        return str(self._send("POST", "api-tokens", body | {"projects": [project]})["secret"])


class _Quiet:
    def warn(self, message: str, *values: object) -> None:
        pass

    debug = info = error = warn
