-- The built-in rows of a new installation. The first process that starts on it inserts them once, so
-- that deleted rows aren't restored.

-- name: mark_seeded
-- Returns a row to the one process that inserts the rest; other processes wait for its transaction.
INSERT INTO settings (key, value) VALUES ('instance', jsonb_build_object('id', %(id)s::text))
ON CONFLICT (key) DO NOTHING
RETURNING key;

-- name: insert_environments
INSERT INTO environments (name, type, sort_order, protected) VALUES
    ('production', 'production', 1, false),
    ('development', 'development', 100, false),
    ('default', 'production', 200, true);

-- name: insert_project
WITH project AS (
    INSERT INTO projects (id, name, description) VALUES ('default', 'Default', 'Default project')
    RETURNING id
)
INSERT INTO project_environments (project, environment)
SELECT project.id, environments.name FROM project CROSS JOIN environments;

-- name: insert_tag_type
INSERT INTO tag_types (name, description, icon)
VALUES ('simple', 'Used to simplify filtering of features', '#');

-- name: insert_context_fields
INSERT INTO context_fields (name, description, stickiness, sort_order, built_in) VALUES
    ('environment', 'Allows you to constrain on environment', false, 0, true),
    ('userId', 'Allows you to constrain on userId', true, 1, true),
    ('appName', 'Allows you to constrain on application name', false, 2, true),
    ('currentTime', 'Allows you to constrain on date values', false, 3, true),
    ('sessionId', 'Allows you to constrain on sessionId', true, 4, true);

-- name: insert_strategy_types
INSERT INTO strategy_types (name, title, description, parameters, deprecated, built_in, sort_order)
VALUES
    ('default', 'Everyone', 'Enabled for everyone.', '[]', false, true, 1),
    ('flexibleRollout', 'Gradual rollout', 'Enabled for a percentage of users.',
     '[{"name": "rollout", "type": "percentage", "description": "Rollout percentage.", "required": false},
       {"name": "stickiness", "type": "string", "description": "Context field used to keep a user in the same bucket.", "required": true},
       {"name": "groupId", "type": "string", "description": "Flags with the same groupId roll out to the same users.", "required": true}]',
     false, true, 0),
    ('userWithId', 'User IDs', 'Enabled for the listed users.',
     '[{"name": "userIds", "type": "list", "description": "", "required": false}]', true, true, 2),
    ('remoteAddress', 'IP addresses', 'Enabled for the listed IP addresses.',
     '[{"name": "IPs", "type": "list", "description": "IPv4 or IPv6 addresses or networks.", "required": true}]',
     false, true, 3),
    ('applicationHostname', 'Hostnames', 'Enabled for the listed hostnames.',
     '[{"name": "hostNames", "type": "list", "description": "Hostnames.", "required": false}]',
     false, true, 4),
    ('gradualRolloutRandom', 'Random rollout', 'Enabled for a percentage of requests.',
     '[{"name": "percentage", "type": "percentage", "description": "", "required": false}]', true, true, 5),
    ('gradualRolloutSessionId', 'Rollout by session', 'Enabled for a percentage of sessions.',
     '[{"name": "percentage", "type": "percentage", "description": "", "required": false},
       {"name": "groupId", "type": "string", "description": "", "required": true}]', true, true, 6),
    ('gradualRolloutUserId', 'Rollout by user', 'Enabled for a percentage of users.',
     '[{"name": "percentage", "type": "percentage", "description": "", "required": false},
       {"name": "groupId", "type": "string", "description": "", "required": true}]', true, true, 7);
