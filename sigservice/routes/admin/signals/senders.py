"""Senders, JSON: their options of endpoints and action sets, samples and setup."""

from typing import Any

from sigservice import senders
from sigservice.senders import Sender
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import AdminGuard, Context, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/action-recipes", needs=ADMIN)
def list_senders(context: Context, identity: Identity) -> Json:
    """`{"recipes": [{name, title, filters, options, sample, resolvedSample, setup, endpointOptions,
    credentials, signature?, page}]}`, one for each of the [senders](senders/README.md); copy
    `filters` and `options` into a set. `endpointOptions` are the options of an endpoint with this
    `template`, `signature` the settings of its signature token."""
    return {"recipes": [to_json(sender) for sender in senders.SENDERS.values()]}


def to_json(sender: Sender) -> dict[str, Any]:
    """`filters` and `options` have the format of an action set, `endpointOptions` the format of an
    endpoint, and `signature` the format of its signature token."""
    body: dict[str, Any] = {
        "name": sender.name,
        "title": sender.title,
        "filters": sender.filters,
        "options": sender.action_set_options,
        "sample": sender.samples.firing,
        "resolvedSample": sender.samples.resolved,
        "setup": sender.setup,
        "endpointOptions": sender.endpoint_options,
        "credentials": sender.credentials,
        "page": sender.page,
    }
    return body | ({"signature": sender.signature} if sender.signature else {})
