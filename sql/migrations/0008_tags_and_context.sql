-- What describes flags (tags) and what strategies may ask about (context fields, strategy types).

CREATE TABLE tag_types (
    name        text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{2,50}$'),
    description text CHECK (length(description) <= 1000),
    icon        text,
    color       text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tags (
    type       text NOT NULL REFERENCES tag_types (name) ON DELETE CASCADE,
    value      text NOT NULL CHECK (length(value) BETWEEN 2 AND 50),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (type, value)
);

CREATE TABLE feature_tags (
    feature    text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    type       text NOT NULL,
    value      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (feature, type, value),
    FOREIGN KEY (type, value) REFERENCES tags (type, value) ON DELETE CASCADE
);

CREATE INDEX feature_tags_type_value_idx ON feature_tags (type, value);

-- legal_values: [{"value", "description"}].
CREATE TABLE context_fields (
    name         text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9._~-]{1,100}$'),
    description  text CHECK (length(description) <= 1000),
    stickiness   boolean NOT NULL DEFAULT false,
    sort_order   integer NOT NULL DEFAULT 10,
    legal_values jsonb NOT NULL DEFAULT '[]',
    built_in     boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- parameters: [{"name", "type", "description", "required"}].
CREATE TABLE strategy_types (
    name        text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 100),
    title       text CHECK (length(title) <= 200),
    description text CHECK (length(description) <= 1000),
    parameters  jsonb NOT NULL DEFAULT '[]',
    deprecated  boolean NOT NULL DEFAULT false,
    built_in    boolean NOT NULL DEFAULT false,
    sort_order  integer NOT NULL DEFAULT 9999,
    created_at  timestamptz NOT NULL DEFAULT now()
);
