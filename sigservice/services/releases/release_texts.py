"""The sentence of each event of a release: the same in its events, the audit log and pages."""

from urllib.parse import quote

from sigservice.services.releases.release_state import Release

_TEXTS = {
    "created": "Created a release of {where}: {steps}.",
    "started": "Started the release of {where} at {rollout}.",
    "advanced": "Advanced {where} from {before} to {rollout}.",
    "held": "Held {where} at {rollout}.",
    "resumed": "Resumed the release of {where} at {rollout}.",
    "guardsEdited": "Edited guards of {where}.",
    "edited": "{where} was changed by {editor} during its release.",
    "guardFired": "A guard of the release of {where} fires.",
    "guardUnknown": "A guard of the release of {where} has no data.",
    "guardOk": "A guard of the release of {where} is ok again.",
    "wouldHold": "Would have held {where} at {rollout}; the guard is a dry run.",
    "wouldRollBack": "Would have rolled back {where} from {rollout}; the guard is a dry run.",
    "rolledBack": "Rolled back {where} from {before} to {rollout}.",
    "finished": "Finished the release of {where} at {rollout}.",
    "stopped": "Stopped the release of {where} at {rollout}.",
}


def make_text(
    release: Release, type: str, *, before: int = 0, editor: str = "", reason: str = ""
) -> str:
    """One sentence; the reason follows a colon."""
    text = _TEXTS[type].format(
        where=release.where,
        rollout=f"{release.rollout}%",
        before=f"{before}%",
        editor=editor or "another user",
        steps=", ".join(f"{step.rollout}%" for step in release.plan.steps),
    )
    return end_sentence(text[:-1], reason)


def end_sentence(text: str, reason: str) -> str:
    """The text with the reason after a colon, if there is one."""
    if not reason:
        return f"{text}."
    return f"{text}: {reason if reason.endswith(('.', '!', '?')) else reason + '.'}"


def make_path(release: Release) -> str:
    """The path of the page of the release."""
    place = f"{quote(release.feature)}/environments/{quote(release.environment)}"
    return f"/admin/features/{place}/releases/{release.id}"
