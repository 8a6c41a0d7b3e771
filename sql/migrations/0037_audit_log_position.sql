-- How far the audit log is written to a file or standard output (SERVICE_AUDIT_LOG), and the process
-- that writes it. The previous version doesn't write it.

CREATE TABLE audit_log_position (
    is_only      boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    event_id     bigint NOT NULL,
    owner        text NOT NULL,
    leased_until timestamptz NOT NULL
);
