"""The types of events that can be sent to integrations."""

from sigservice.services.system.events import RULE_EVENTS

_CHANGES = ("created", "updated", "deleted")
ANY = "*"

# The types that the service records, by heading of the form.
RECORDED: dict[str, tuple[str, ...]] = {
    "Flags": (
        "feature-created", "feature-archived", "feature-revived", "feature-deleted",
        "feature-stale-on", "feature-stale-off", "feature-potentially-stale-on",
        "feature-metadata-updated", "feature-project-change", "feature-tagged",
        "feature-untagged", "feature-completed", "feature-uncompleted",
        "feature-dependency-added", "feature-dependency-removed", "feature-dependencies-removed",
        "feature-favorited", "feature-unfavorited", "features-imported",
        "features-applied",
        "features-released",
    ),
    "Environments of flags": (
        "feature-environment-enabled", "feature-environment-disabled", "feature-kept-off",
        "feature-strategy-add", "feature-strategy-update", "feature-strategy-remove",
        "strategy-order-changed", "feature-environment-variants-updated",
    ),
    "Projects and environments": (
        *(f"project-{change}" for change in _CHANGES), "project-favorited",
        "project-unfavorited", "project-environment-added", "project-environment-removed",
        "default-strategy-updated", *(f"environment-{change}" for change in _CHANGES),
    ),
    "Definitions": (
        *(f"{family}-{change}" for family in ("segment", "context-field", "strategy", "tag-type")
          for change in _CHANGES),
        "strategy-deprecated", "strategy-reactivated", "tag-created", "tag-deleted",
        "feature-type-updated",
    ),
    "Users and tokens": (
        *(f"{family}-{change}" for family in ("user", "service-account", "api-token")
          for change in _CHANGES),
        "pat-created", "pat-deleted", "pat-creation-failed", "user-signed-in",
        "user-signed-out", "user-sign-in-failed", "user-sign-ins-failed",
        "user-password-change-failed", "user-sessions-ended", "password-reset-requested",
        "password-link-created", "user-identity-linked", "user-identity-unlinked",
        "user-identity-unlink-failed",
    ),
    "Signals and actions": (
        *(f"{family}-{change}"
          for family in ("signal-endpoint", "signal-endpoint-token", "actions", "alert-rule",
                         "metric-source")
          for change in _CHANGES),
        *(f"action-run-{state}" for state in ("succeeded", "failed", "reverted", "skipped")),
        *RULE_EVENTS,
        "signal-sent", "actions-alert-ignored", "actions-alert-watched", "actions-undone",
        "actions-restore-cancelled",
    ),
    "Releases": (
        *(f"release-{state}" for state in (
            "created", "started", "advanced", "held", "resumed", "edited", "guards-edited",
            "guard-fired", "guard-unknown", "guard-ok", "would-hold", "would-roll-back",
            "rolled-back", "finished", "stopped",
        )),
        "safeguard-triggered",
    ),
    "Service": (
        *(f"addon-config-{change}" for change in _CHANGES), "setting-updated",
        "application-deleted", "emergency-started", "emergency-ended",
    ),
}  # fmt: skip
# Names that other servers record: existing scripts and imports may use them.
_BASIC = (
    "feature-created", "feature-archived", "feature-revived", "feature-stale-on",
    "feature-stale-off", "feature-environment-enabled", "feature-environment-disabled",
    "feature-strategy-add", "feature-strategy-update", "feature-strategy-remove",
    "feature-metadata-updated", "feature-project-change", "feature-potentially-stale-on",
)  # fmt: skip
_PROGRESSIONS = ("release-plan-progressions-paused", "release-plan-progressions-resumed")
_CHANGE_REQUESTS = (
    "change-added", "change-discarded", "change-edited",
    *(f"change-request-{state}" for state in (
        "created", "discarded", "rejected", "approved", "approval-added", "cancelled",
        "sent-to-review", "applied", "scheduled", "scheduled-application-success",
        "scheduled-application-failure", "schedule-suspended",
    )),
)  # fmt: skip
_CHAT = ("feature-updated", "feature-variants-updated", *_PROGRESSIONS)
_MONITORING = ("feature-updated", "feature-environment-variants-updated")
_MORE = {
    "webhook": (
        *_CHAT, "feature-tagged", "feature-untagged", "feature-completed", *_CHANGE_REQUESTS,
    ),
    "slack": _CHAT,
    "slack-app": (
        "feature-deleted", "feature-environment-variants-updated", "feature-tagged",
        "feature-untagged", "project-created", "project-archived", "project-deleted",
        "api-token-created", "api-token-deleted", "user-access-request-registered",
        "user-access-request-approved", "user-access-request-rejected",
        *(f"{family}-{change}" for family in ("context-field", "segment", "user",
          "service-account", "group", "banner", "addon-config") for change in _CHANGES),
        *_CHANGE_REQUESTS, *_PROGRESSIONS,
    ),
    "teams": (*_CHAT, *_CHANGE_REQUESTS),
    "teamsworkflow": (*_CHAT, *_CHANGE_REQUESTS),
    "email": _CHAT,
    "datadog": _MONITORING,
    "new-relic": _MONITORING,
}  # fmt: skip
_ALL_RECORDED = tuple(type for types in RECORDED.values() for type in types)
KNOWN = frozenset([ANY, *_ALL_RECORDED, *_BASIC, *(one for more in _MORE.values() for one in more)])


def list_offered(provider: str) -> list[str]:
    """The types that a provider offers, each once."""
    return list(dict.fromkeys((*_BASIC, *_MORE[provider], *_ALL_RECORDED)))
