"""The limits of resources, with the names that Unleash's tools read."""

from typing import Any

from sigservice.services.access import api_tokens
from sigservice.services.flags import constraints, features, segments, strategies
from sigservice.services.projects import environments, projects


def list_resource_limits(config: dict[str, Any]) -> dict[str, int]:
    return {
        "segmentValues": config["segmentValuesLimit"],
        "strategySegments": config["strategySegmentsLimit"],
        "signalEndpoints": config["signals"]["endpointsLimit"],
        "signalTokensPerEndpoint": config["signals"]["tokensPerEndpointLimit"],
        "actionSetsPerProject": config["actions"]["setsPerProjectLimit"],
        "actionSetActions": config["actions"]["actionsLimit"],
        "actionSetFilters": config["actions"]["filtersLimit"],
        "actionSetFilterValues": config["actions"]["filterValuesLimit"],
        "featureEnvironmentStrategies": strategies.MAX_STRATEGIES,
        "constraints": constraints.MAX_CONSTRAINTS,
        "constraintValues": constraints.MAX_VALUES,
        "environments": environments.MAX_ENVIRONMENTS,
        "projects": projects.MAX_PROJECTS,
        "apiTokens": api_tokens.MAX_TOKENS,
        "segments": segments.MAX_SEGMENTS,
        "featureFlags": features.MAX_FEATURES,
        "releaseTemplates": 0,  # nobody can add one
    }
