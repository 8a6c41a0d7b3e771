"""Payloads of firing and resolved alerts of well-known systems, and how to configure these.

ENDPOINT_URL stands for the URL of the signal endpoint, SIGNAL_TOKEN for one of its tokens.
"""
