-- The integrations that a change of the state of an alert rule notifies, each {type, name, on}.
ALTER TABLE alert_rules ADD COLUMN notifications jsonb NOT NULL DEFAULT '[]';
