-- How often SDKs poll, by environment: 0 for those that stream. A release waits so long before it
-- expects that a step has reached them.

CREATE TABLE poll_intervals (
    environment text NOT NULL,
    seconds     integer NOT NULL CHECK (seconds BETWEEN 0 AND 86400),
    seen_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, seconds)
);
