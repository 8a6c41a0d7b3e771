-- When flags entered the stages of their lifecycle. The time of creation and of archiving are in
-- `features`; 'initial' is stored only for a flag that was revived.

CREATE TABLE feature_stages (
    feature      text NOT NULL REFERENCES features (name) ON DELETE CASCADE,
    stage        text NOT NULL CHECK (stage IN ('initial', 'pre-live', 'live', 'completed')),
    entered_at   timestamptz NOT NULL DEFAULT now(),
    status       text CHECK (status IN ('kept', 'discarded')),
    status_value text CHECK (length(status_value) <= 100),
    PRIMARY KEY (feature, stage)
);
