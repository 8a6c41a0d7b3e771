"""Configuration: a table of options, read from code and environment into a plain dict."""

from sigservice.config.load import Loaded, load_config

__all__ = ["Loaded", "load_config"]
