"""The tests. Their bytecode is cached whatever the environment says: rewriting their asserts takes
longer than all else in their collection, and each process of a run would repeat it."""

import sys

sys.dont_write_bytecode = False
