"""Evaluates feature flags as the SDKs do: a document of flags becomes functions of a context."""
