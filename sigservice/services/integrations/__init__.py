"""Integrations: who hears of which events, their deliveries and the messages in them."""
