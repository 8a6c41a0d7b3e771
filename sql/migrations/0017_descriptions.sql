-- Clearer descriptions of the built-in roles, flag types and strategy types. A row that was edited
-- since keeps its text.

UPDATE roles SET description = new.description
FROM (VALUES
    ('Admin', 'May do everything.', 'Full access.'),
    ('Editor', 'May change flags and segments.', 'Create and edit flags and segments.'),
    ('Viewer', 'May look.', 'Read only.')
) AS new (name, old_description, description)
WHERE roles.name = new.name AND roles.description = new.old_description;

UPDATE feature_types SET description = new.description
FROM (VALUES
    ('release', 'Rolls a new feature out; removed when it is everywhere.',
     'Manage the release of a new feature. Remove after full rollout.'),
    ('experiment', 'Compares variants.', 'A/B or multivariate test.'),
    ('operational', 'Controls how the system behaves.', 'Control how the system behaves.'),
    ('kill-switch', 'Switches something off when it does harm.', 'Turn a feature off in an incident.'),
    ('permission', 'Decides who may use something.', 'Control access by entitlement.')
) AS new (id, old_description, description)
WHERE feature_types.id = new.id AND feature_types.description = new.old_description;

UPDATE strategy_types SET title = new.title
FROM (VALUES
    ('default', 'Standard', 'Everyone'),
    ('userWithId', 'UserIDs', 'User IDs'),
    ('remoteAddress', 'IPs', 'IP addresses'),
    ('applicationHostname', 'Hosts', 'Hostnames'),
    ('gradualRolloutRandom', 'Randomly', 'Random rollout'),
    ('gradualRolloutSessionId', 'Sessions', 'Rollout by session'),
    ('gradualRolloutUserId', 'Users', 'Rollout by user')
) AS new (name, old_title, title)
WHERE strategy_types.built_in AND strategy_types.name = new.name
  AND strategy_types.title = new.old_title;

UPDATE strategy_types SET description = new.description
FROM (VALUES
    ('default', 'On for everybody.', 'Enabled for everyone.'),
    ('flexibleRollout', 'On for a share of those who ask.', 'Enabled for a percentage of users.'),
    ('userWithId', 'On for the users listed.', 'Enabled for the listed users.'),
    ('remoteAddress', 'On for the addresses listed.', 'Enabled for the listed IP addresses.'),
    ('applicationHostname', 'On for the hosts listed.', 'Enabled for the listed hostnames.'),
    ('gradualRolloutRandom', 'On for a share of requests.', 'Enabled for a percentage of requests.'),
    ('gradualRolloutSessionId', 'On for a share of sessions.', 'Enabled for a percentage of sessions.'),
    ('gradualRolloutUserId', 'On for a share of users.', 'Enabled for a percentage of users.')
) AS new (name, old_description, description)
WHERE strategy_types.built_in AND strategy_types.name = new.name
  AND strategy_types.description = new.old_description;

UPDATE strategy_types SET parameters = new.parameters::jsonb
FROM (VALUES
    ('flexibleRollout',
     '[{"name": "rollout", "type": "percentage", "description": "How many per cent.", "required": false},
       {"name": "stickiness", "type": "string", "description": "What decides who belongs to the share.", "required": true},
       {"name": "groupId", "type": "string", "description": "Flags with one group let the same ones in.", "required": true}]',
     '[{"name": "rollout", "type": "percentage", "description": "Rollout percentage.", "required": false},
       {"name": "stickiness", "type": "string", "description": "Context field used to keep a user in the same bucket.", "required": true},
       {"name": "groupId", "type": "string", "description": "Flags with the same groupId roll out to the same users.", "required": true}]'),
    ('applicationHostname',
     '[{"name": "hostNames", "type": "list", "description": "Host names.", "required": false}]',
     '[{"name": "hostNames", "type": "list", "description": "Hostnames.", "required": false}]')
) AS new (name, old_parameters, parameters)
WHERE strategy_types.built_in AND strategy_types.name = new.name
  AND strategy_types.parameters = new.old_parameters::jsonb;
