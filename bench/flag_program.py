"""Like flag_program.cjs, with the official Python SDK. usage: flag_program.py URL TOKEN FLAG"""

import logging
import sys
import time

from UnleashClient import UnleashClient

url, token, flag = sys.argv[1:]
logging.disable(logging.CRITICAL)
client = UnleashClient(
    url=f"{url}/api",
    app_name="bench-python",
    custom_headers={"Authorization": token},
    experimental_mode={"type": "streaming"},
    disable_metrics=True,
    disable_registration=True,
)
client.initialize_client()
last = None
while True:
    is_on = client.is_enabled(flag)
    if is_on is not last:
        print("on" if is_on else "off", flush=True)
    last = is_on
    time.sleep(0.001)
