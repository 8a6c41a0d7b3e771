"""The service without metrics, which only an option in code disables."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import sigservice

service = sigservice.start({"server": {"serverMetrics": False}})
print("\n".join(service.describe()), flush=True)
service.wait()
