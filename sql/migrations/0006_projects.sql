-- Where flags live: environments, projects, and which project uses which environment. The built-in
-- rows are written at the first start (services/built_ins.py).

CREATE TABLE environments (
    name       text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    type       text NOT NULL CHECK (length(type) BETWEEN 1 AND 100),
    sort_order integer NOT NULL,
    enabled    boolean NOT NULL DEFAULT true,
    protected  boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE projects (
    id                 text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._~-]{1,100}$'),
    name               text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    description        text CHECK (length(description) <= 1000),
    mode               text NOT NULL DEFAULT 'open',
    default_stickiness text NOT NULL DEFAULT 'default',
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now()
);

-- The default strategy is what a flag gets when it is switched on without a strategy of its own.
CREATE TABLE project_environments (
    project          text NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    environment      text NOT NULL REFERENCES environments (name) ON DELETE CASCADE,
    default_strategy jsonb,
    PRIMARY KEY (project, environment)
);

CREATE INDEX project_environments_environment_idx ON project_environments (environment);

-- What the service remembers about itself: its id, origins for browsers, what was seeded.
CREATE TABLE settings (
    key   text PRIMARY KEY,
    value jsonb NOT NULL
);
