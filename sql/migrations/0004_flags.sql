-- Flags and segments.

-- Where files of flags as code come from; see docs/flags-as-code.md. The columns `source` name what manages an item.
CREATE TABLE sources (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    revision text CHECK (length(revision) <= 200),
    applied_at timestamptz NOT NULL,
    applied_by text NOT NULL
);

-- A permanent flag is never ready to be removed; NULL is the default of its type.
CREATE TABLE features (
    name text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    project text NOT NULL REFERENCES projects (id),
    type text NOT NULL REFERENCES feature_types (id),
    description text CHECK (length(description) <= 5000),
    stale boolean NOT NULL DEFAULT false,
    impression_data boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    created_by_user_id integer,
    archived_at timestamptz,
    permanent boolean,
    source text REFERENCES sources (name) ON DELETE SET NULL
);
CREATE INDEX features_active_idx ON features (project, stale) WHERE archived_at IS NULL;
CREATE INDEX features_project_idx ON features (project);
CREATE INDEX features_source_idx ON features (source) WHERE source IS NOT NULL;

-- A missing row is a flag that is off. `variants` are those of older SDKs; strategies have their own.
CREATE TABLE feature_environments (
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    enabled boolean NOT NULL DEFAULT false,
    variants jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (feature, environment)
);
CREATE INDEX feature_environments_environment_idx ON feature_environments (environment);

CREATE TABLE feature_strategies (
    id text PRIMARY KEY,
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    environment text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    title text CHECK (length(title) <= 200),
    disabled boolean NOT NULL DEFAULT false,
    sort_order integer NOT NULL,
    parameters jsonb NOT NULL DEFAULT '{}',
    constraints jsonb NOT NULL DEFAULT '[]',
    variants jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX feature_strategies_environment_idx ON feature_strategies (environment, feature, sort_order);
CREATE INDEX feature_strategies_feature_idx ON feature_strategies (feature);

CREATE TABLE segments (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    description text CHECK (length(description) <= 1000),
    project text REFERENCES projects (id),
    constraints jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    created_by_user_id integer,
    source text REFERENCES sources (name) ON DELETE SET NULL
);
CREATE INDEX segments_project_idx ON segments (project);

CREATE TABLE strategy_segments (
    strategy_id text NOT NULL REFERENCES feature_strategies (id) ON DELETE CASCADE,
    segment_id integer NOT NULL REFERENCES segments (id),
    PRIMARY KEY (strategy_id, segment_id)
);
CREATE INDEX strategy_segments_segment_id_idx ON strategy_segments (segment_id);

CREATE TABLE feature_tags (
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    type text NOT NULL,
    value text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (type, value) REFERENCES tags (type, value) ON DELETE CASCADE,
    PRIMARY KEY (feature, type, value)
);
CREATE INDEX feature_tags_type_value_idx ON feature_tags (type, value);

-- The child is on only when the parent is on (with one of `variants`, if there are any), or off.
CREATE TABLE feature_dependencies (
    child text PRIMARY KEY REFERENCES features (name) ON DELETE CASCADE,
    parent text NOT NULL REFERENCES features (name),
    enabled boolean NOT NULL DEFAULT true,
    variants jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX feature_dependencies_parent_idx ON feature_dependencies (parent);

-- When flags entered the stages of their lifecycle. The time of creation and of archiving are in `features`;
-- 'initial' is stored only for a flag that was revived.
CREATE TABLE feature_stages (
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    stage text NOT NULL CHECK (stage IN ('initial', 'pre-live', 'live', 'completed')),
    entered_at timestamptz NOT NULL DEFAULT now(),
    status text CHECK (status IN ('kept', 'discarded')),
    status_value text CHECK (length(status_value) <= 100),
    PRIMARY KEY (feature, stage)
);

-- A table of its own, so that reports and changes of a flag don't lock the same rows. No foreign keys, whose
-- checks would lock the flag; the retention job deletes the rows of flags that are gone.
CREATE TABLE feature_last_seen (
    feature text NOT NULL,
    environment text NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (feature, environment)
);

-- Like favorite_projects.
CREATE TABLE favorite_features (
    user_id integer NOT NULL,
    feature text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    account_id integer GENERATED ALWAYS AS (CASE WHEN user_id > 0 THEN user_id END) STORED
        REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (feature, user_id)
);
CREATE INDEX favorite_features_account_id_idx ON favorite_features (account_id);
