-- The part of the counts that frontend tokens have reported: they are public, so anyone can report with them.
-- The previous version doesn't write it; what it stores counts as reported by client tokens.

ALTER TABLE client_metrics
    ADD COLUMN frontend_yes bigint NOT NULL DEFAULT 0,
    ADD COLUMN frontend_no  bigint NOT NULL DEFAULT 0;

ALTER TABLE client_metrics_variants
    ADD COLUMN frontend_count bigint NOT NULL DEFAULT 0;
