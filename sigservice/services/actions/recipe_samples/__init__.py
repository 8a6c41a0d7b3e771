"""What other systems send when an alert fires and when it is over, and how to make them send it.

In the texts ENDPOINT_URL stands for the address of the signal endpoint, SIGNAL_TOKEN for one of its
tokens.
"""
