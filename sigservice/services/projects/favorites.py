"""Favorites: flags and projects that a user has marked. Other users and SDKs don't see them, so no
revision is bumped."""

from sigservice.db import Connection
from sigservice.repository.projects import favorites
from sigservice.services.flags import features
from sigservice.services.identity import Identity
from sigservice.services.projects import projects
from sigservice.services.system import events


def add_feature(conn: Connection, project: str, name: str, by: Identity) -> None:
    """Does nothing for a favorite. Raises NotFoundError, also for an archived flag."""
    features.get_active(conn, project, name)
    if favorites.add_feature(conn, by.user_id, name):
        events.record(conn, "feature-favorited", by, project=project, feature_name=name)


def remove_feature(conn: Connection, project: str, name: str, by: Identity) -> None:
    """Does nothing for a flag that isn't a favorite. Raises NotFoundError."""
    features.get(conn, project, name)
    if favorites.remove_feature(conn, by.user_id, name):
        events.record(conn, "feature-unfavorited", by, project=project, feature_name=name)


def add_project(conn: Connection, id: str, by: Identity) -> None:
    """Does nothing for a favorite. Raises NotFoundError."""
    projects.get(conn, id)
    if favorites.add_project(conn, by.user_id, id):
        events.record(conn, "project-favorited", by, project=id)


def remove_project(conn: Connection, id: str, by: Identity) -> None:
    """Does nothing for a project that isn't a favorite. Raises NotFoundError."""
    projects.get(conn, id)
    if favorites.remove_project(conn, by.user_id, id):
        events.record(conn, "project-unfavorited", by, project=id)
