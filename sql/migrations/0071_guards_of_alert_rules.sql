-- A guard can watch an alert rule that exists, besides having one of its own.
ALTER TABLE release_guards ADD COLUMN rule_id integer REFERENCES alert_rules (id) ON DELETE SET NULL;
CREATE INDEX release_guards_rule_idx ON release_guards (rule_id) WHERE rule_id IS NOT NULL;
