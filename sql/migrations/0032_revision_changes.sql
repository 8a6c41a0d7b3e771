-- What each change touched, so that a process reads the changed flags only.

-- `previous` is the number before the change: a version of the service that writes no row here leaves
-- a gap, after which all flags are read. NULL in `environments` are all environments, in `flags` any
-- flags and segments.
CREATE TABLE revision_changes (
    revision     bigint PRIMARY KEY,
    previous     bigint NOT NULL,
    environments text[],
    flags        text[],
    segments     integer[] NOT NULL
);
