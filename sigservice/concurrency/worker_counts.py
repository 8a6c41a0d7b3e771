"""How many requests of each kind can occupy a worker of the listener at the same time."""

# Workers of the listener besides the ones below. Password hashing uses at most three of
# them.
FREE_WORKERS = 8
# Callers that wait for one group commit (db/group_commit.py): senders of signals, or SDKs that
# report; and SDKs that report with public tokens, so that these keep no others waiting.
MAX_WAITING, MAX_FRONTEND_WAITING = 64, 32
# Files that are sent while they are read from the database (web/streamed_files.py). Each occupies a
# worker as long as its client reads.
MAX_STREAMED_FILES = 4
# Requests that query a metric source or wait until it is free (services/rules/source_locks.py), at
# most for its timeout. A source that hangs occupies at most half of them.
MAX_SOURCE_QUERIES = 6
# Tests of integrations, which wait up to 30 s for their receivers.
MAX_INTEGRATION_TESTS = 4
# Slow reads of users and tools: searches in events and signals, exports. They use one of
# every SLOW_PART connections of the pool, but at least one; so many callers wait for one.
SLOW_PART, MAX_WAITING_SLOW = 4, 2


def count_slow(pool_size: int) -> int:
    """The number of connections for slow reads."""
    return max(1, pool_size // SLOW_PART)


def count_workers(pool_size: int) -> int:
    """The number of threads for requests: as many as slow reads, group commits, files, metric
    sources and tests of integrations can occupy, and some for other requests."""
    occupied = count_slow(pool_size) + MAX_WAITING_SLOW
    occupied += MAX_WAITING + MAX_FRONTEND_WAITING
    occupied += MAX_STREAMED_FILES + MAX_SOURCE_QUERIES + MAX_INTEGRATION_TESTS
    return max(occupied + FREE_WORKERS, pool_size * 2)
