-- Flags, what decides whether they are on, and the revisions that caches ask for.

CREATE TABLE feature_types (
    id            text PRIMARY KEY,
    name          text NOT NULL,
    description   text NOT NULL,
    lifetime_days integer
);

INSERT INTO feature_types (id, name, description, lifetime_days) VALUES
    ('release', 'Release', 'Rolls a new feature out; removed when it is everywhere.', 40),
    ('experiment', 'Experiment', 'Compares variants.', 40),
    ('operational', 'Operational', 'Controls how the system behaves.', 7),
    ('kill-switch', 'Kill switch', 'Switches something off when it does harm.', NULL),
    ('permission', 'Permission', 'Decides who may use something.', NULL);

CREATE TABLE features (
    name               text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    project            text NOT NULL REFERENCES projects (id),
    type               text NOT NULL REFERENCES feature_types (id),
    description        text CHECK (length(description) <= 5000),
    stale              boolean NOT NULL DEFAULT false,
    impression_data    boolean NOT NULL DEFAULT false,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by         text NOT NULL,
    created_by_user_id integer,
    archived_at        timestamptz,
    last_seen_at       timestamptz
);

CREATE INDEX features_project_idx ON features (project);

-- A missing row is a flag that is off. `variants` are those of old flags; new ones have them on
-- their strategies.
CREATE TABLE feature_environments (
    feature      text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment  text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    enabled      boolean NOT NULL DEFAULT false,
    variants     jsonb NOT NULL DEFAULT '[]',
    last_seen_at timestamptz,
    PRIMARY KEY (feature, environment)
);

CREATE INDEX feature_environments_environment_idx ON feature_environments (environment);

CREATE TABLE feature_strategies (
    id          text PRIMARY KEY,
    feature     text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    title       text CHECK (length(title) <= 200),
    disabled    boolean NOT NULL DEFAULT false,
    sort_order  integer NOT NULL,
    parameters  jsonb NOT NULL DEFAULT '{}',
    constraints jsonb NOT NULL DEFAULT '[]',
    variants    jsonb NOT NULL DEFAULT '[]',
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX feature_strategies_environment_idx
    ON feature_strategies (environment, feature, sort_order);
CREATE INDEX feature_strategies_feature_idx ON feature_strategies (feature);

CREATE TABLE segments (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name               text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    description        text CHECK (length(description) <= 1000),
    project            text REFERENCES projects (id),
    constraints        jsonb NOT NULL DEFAULT '[]',
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by         text NOT NULL,
    created_by_user_id integer
);

CREATE TABLE strategy_segments (
    strategy_id text NOT NULL REFERENCES feature_strategies (id) ON DELETE CASCADE,
    segment_id  integer NOT NULL REFERENCES segments (id),
    PRIMARY KEY (strategy_id, segment_id)
);

CREATE INDEX strategy_segments_segment_id_idx ON strategy_segments (segment_id);

-- The child is on only when the parent is on (with one of `variants`, if there are any), or off.
CREATE TABLE feature_dependencies (
    child    text PRIMARY KEY REFERENCES features (name) ON DELETE CASCADE,
    parent   text NOT NULL REFERENCES features (name),
    enabled  boolean NOT NULL DEFAULT true,
    variants jsonb NOT NULL DEFAULT '[]'
);

CREATE INDEX feature_dependencies_parent_idx ON feature_dependencies (parent);

-- One row a topic: '' grows with each change that a client could see and its row lock serialises
-- those changes; 'tokens', 'all' (every environment) and 'in/<environment>' tell what changed.
CREATE TABLE revisions (
    topic text PRIMARY KEY,
    id    bigint NOT NULL
);
