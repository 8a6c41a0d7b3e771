-- Settings that tools write: a pattern for the names of new flags, and templates of links. The
-- previous version of the service ignores them.

ALTER TABLE projects
    ADD COLUMN feature_naming jsonb,
    ADD COLUMN link_templates jsonb NOT NULL DEFAULT '[]';
