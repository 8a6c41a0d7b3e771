-- Projects, environments, and the types and fields of their flags.

-- The built-in rows of this file's tables are written at the first start (services/built_ins.py), except for the
-- feature types. `confirms_production`: the pages ask before they switch a flag in an environment of the type
-- production.
CREATE TABLE projects (
    id text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._~-]{1,100}$'),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    description text CHECK (length(description) <= 1000),
    mode text NOT NULL DEFAULT 'open',
    default_stickiness text NOT NULL DEFAULT 'default',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    feature_naming jsonb,
    link_templates jsonb NOT NULL DEFAULT '[]',
    confirms_production boolean NOT NULL DEFAULT true
);

CREATE TABLE environments (
    name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    type text NOT NULL CHECK (length(type) BETWEEN 1 AND 100),
    sort_order integer NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    protected boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The default strategy is what a flag gets when it is switched on without a strategy of its own.
CREATE TABLE project_environments (
    project text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    environment text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    default_strategy jsonb,
    PRIMARY KEY (project, environment)
);
CREATE INDEX project_environments_environment_idx ON project_environments (environment);

-- Favorites of users, and of tokens and pseudo users, whose negative IDs have no row in `users`.
CREATE TABLE favorite_projects (
    user_id integer NOT NULL,
    project text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    account_id integer GENERATED ALWAYS AS (CASE WHEN user_id > 0 THEN user_id END) STORED
        REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (project, user_id)
);
CREATE INDEX favorite_projects_account_id_idx ON favorite_projects (account_id);

-- legal_values: [{"value", "description"}].
CREATE TABLE context_fields (
    name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    description text CHECK (length(description) <= 1000),
    stickiness boolean NOT NULL DEFAULT false,
    sort_order integer NOT NULL DEFAULT 10,
    legal_values jsonb NOT NULL DEFAULT '[]',
    built_in boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE feature_types (
    id text PRIMARY KEY,
    name text NOT NULL,
    description text NOT NULL,
    lifetime_days integer
);
INSERT INTO feature_types (id, name, description, lifetime_days) VALUES
    ('release', 'Release', 'Manage the release of a new feature. Remove after full rollout.', 40),
    ('experiment', 'Experiment', 'A/B or multivariate test.', 40),
    ('operational', 'Operational', 'Control how the system behaves.', 7),
    ('kill-switch', 'Kill switch', 'Turn a feature off in an incident.', NULL),
    ('permission', 'Permission', 'Control access by entitlement.', NULL);

-- parameters: [{"name", "type", "description", "required"}].
CREATE TABLE strategy_types (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 100),
    title text CHECK (length(title) <= 200),
    description text CHECK (length(description) <= 1000),
    parameters jsonb NOT NULL DEFAULT '[]',
    deprecated boolean NOT NULL DEFAULT false,
    built_in boolean NOT NULL DEFAULT false,
    sort_order integer NOT NULL DEFAULT 9999,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tag_types (
    name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{2,50}$'),
    description text CHECK (length(description) <= 1000),
    icon text,
    color text,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tags (
    type text NOT NULL REFERENCES tag_types (name) ON DELETE CASCADE,
    value text NOT NULL CHECK (length(value) BETWEEN 2 AND 50),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (type, value)
);
