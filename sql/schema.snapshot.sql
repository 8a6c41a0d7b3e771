-- Today's schema, generated from the migrations for reading; never executed.

CREATE FUNCTION public.notify_revisions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('sigservice_revisions', '');
    RETURN NULL;
END
$$;

CREATE FUNCTION public.set_revision_event_id() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.topic = '' THEN
        NEW.event_id := greatest(NEW.event_id + 1, floor(extract(epoch FROM clock_timestamp())));
    ELSE
        SELECT id, event_id INTO NEW.id, NEW.event_id FROM revisions WHERE topic = '';
    END IF;
    RETURN NEW;
END
$$;

CREATE TABLE public.action_runs (
    id bigint NOT NULL,
    action_set_id integer NOT NULL,
    project text NOT NULL,
    cause text NOT NULL,
    signal_id bigint,
    reverts_run_id bigint,
    reverted_by_run_id bigint,
    revert_due_at timestamp with time zone,
    alert_key text,
    actor_id integer NOT NULL,
    state text NOT NULL,
    reason text,
    dry_run boolean DEFAULT false NOT NULL,
    signal json,
    action_set jsonb NOT NULL,
    next_action integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT action_runs_cause_check CHECK ((cause = ANY (ARRAY['signal'::text, 'resolved'::text, 'timer'::text, 'undo'::text]))),
    CONSTRAINT action_runs_state_check CHECK ((state = ANY (ARRAY['started'::text, 'success'::text, 'failed'::text, 'suppressed'::text])))
);

ALTER TABLE public.action_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.action_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.action_sets (
    id integer NOT NULL,
    project text NOT NULL,
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    has_run_once boolean DEFAULT false CONSTRAINT action_sets_armed_not_null NOT NULL,
    actor_id integer NOT NULL,
    endpoint_id integer CONSTRAINT action_sets_source_id_not_null NOT NULL,
    filters jsonb DEFAULT '[]'::jsonb NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer NOT NULL,
    schedule jsonb,
    due_at timestamp with time zone,
    CONSTRAINT action_sets_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT action_sets_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
);

ALTER TABLE public.action_sets ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.action_sets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.actions (
    id integer NOT NULL,
    action_set_id integer NOT NULL,
    sort_order integer NOT NULL,
    kind text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer NOT NULL
);

ALTER TABLE public.actions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.actions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alert_rules (
    id integer NOT NULL,
    name text,
    endpoint_id integer,
    enabled boolean NOT NULL,
    condition jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer,
    due_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    state text DEFAULT 'unknown'::text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    streak integer DEFAULT 0 NOT NULL,
    has_fired boolean DEFAULT false NOT NULL,
    unknown_since timestamp with time zone,
    value double precision,
    samples double precision DEFAULT 0 NOT NULL,
    window_from timestamp with time zone,
    window_to timestamp with time zone,
    reason text DEFAULT 'The rule was not evaluated yet.'::text NOT NULL,
    evaluated_at timestamp with time zone,
    last_error text,
    guard_id bigint,
    leased_until timestamp with time zone,
    silent_endpoint_id integer GENERATED ALWAYS AS (
CASE
    WHEN ((condition #>> '{source,kind}'::text[]) = 'silence'::text) THEN ((condition #>> '{source,endpointId}'::text[]))::integer
    ELSE NULL::integer
END) STORED,
    last_signal_id bigint,
    last_signal_at timestamp with time zone,
    alert_key text,
    CONSTRAINT alert_rules_check CHECK (((num_nulls(guard_id, name) = 1) AND (num_nulls(guard_id, endpoint_id) = 1))),
    CONSTRAINT alert_rules_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'firing'::text, 'unknown'::text])))
);

ALTER TABLE public.alert_rules ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.alert_rules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alerts (
    action_set_id integer NOT NULL,
    key_hash bytea NOT NULL,
    key text NOT NULL,
    endpoint_id integer CONSTRAINT alerts_source_id_not_null NOT NULL,
    key_path text NOT NULL,
    is_firing boolean NOT NULL,
    run_id bigint,
    reported_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    ignored_by text,
    ignored_by_id integer,
    ignored_at timestamp with time zone
);

CREATE TABLE public.api_tokens (
    id integer NOT NULL,
    secret_hash bytea NOT NULL,
    secret_prefix text NOT NULL,
    token_name text NOT NULL,
    type text NOT NULL,
    environment text NOT NULL,
    projects text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    created_by text,
    created_by_user_id integer,
    seen_at timestamp with time zone,
    CONSTRAINT api_tokens_type_check CHECK ((type = ANY (ARRAY['admin'::text, 'client'::text, 'frontend'::text])))
);

ALTER TABLE public.api_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audit_log_position (
    is_only boolean DEFAULT true NOT NULL,
    event_id bigint NOT NULL,
    owner text NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    CONSTRAINT audit_log_position_is_only_check CHECK (is_only)
);

CREATE TABLE public.client_application_environments (
    environment text NOT NULL,
    sdk_type text NOT NULL,
    app_name text NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT client_application_environments_sdk_type_check CHECK ((sdk_type = ANY (ARRAY['backend'::text, 'frontend'::text])))
);

CREATE TABLE public.client_applications (
    app_name text NOT NULL,
    description text,
    strategies jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.client_instances (
    app_name text NOT NULL,
    instance_id text NOT NULL,
    environment text NOT NULL,
    sdk_version text,
    sdk_type text,
    client_ip text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen timestamp with time zone DEFAULT now() NOT NULL,
    impact_stops jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE public.client_metrics (
    feature text NOT NULL,
    app_name text NOT NULL,
    environment text NOT NULL,
    hour timestamp with time zone NOT NULL,
    yes bigint NOT NULL,
    no bigint NOT NULL,
    frontend_yes bigint DEFAULT 0 NOT NULL,
    frontend_no bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.client_metrics_variants (
    feature text NOT NULL,
    app_name text NOT NULL,
    environment text NOT NULL,
    hour timestamp with time zone NOT NULL,
    variant text NOT NULL,
    count bigint NOT NULL,
    frontend_count bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.context_fields (
    name text NOT NULL,
    description text,
    stickiness boolean DEFAULT false NOT NULL,
    sort_order integer DEFAULT 10 NOT NULL,
    legal_values jsonb DEFAULT '[]'::jsonb NOT NULL,
    built_in boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT context_fields_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT context_fields_name_check CHECK ((name ~ '^[A-Za-z0-9._~-]{1,100}$'::text))
);

CREATE TABLE public.environments (
    name text NOT NULL,
    type text NOT NULL,
    sort_order integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    protected boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT environments_name_check CHECK ((name ~ '^[A-Za-z0-9._~-]{1,100}$'::text)),
    CONSTRAINT environments_type_check CHECK (((length(type) >= 1) AND (length(type) <= 100)))
);

CREATE TABLE public.events (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    type text NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer,
    ip text,
    project text,
    environment text,
    feature_name text,
    data jsonb,
    pre_data jsonb,
    data_bytes integer,
    tags jsonb DEFAULT '[]'::jsonb NOT NULL
);

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.favorite_features (
    user_id integer NOT NULL,
    feature text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    account_id integer GENERATED ALWAYS AS (
CASE
    WHEN (user_id > 0) THEN user_id
    ELSE NULL::integer
END) STORED
);

CREATE TABLE public.favorite_projects (
    user_id integer NOT NULL,
    project text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    account_id integer GENERATED ALWAYS AS (
CASE
    WHEN (user_id > 0) THEN user_id
    ELSE NULL::integer
END) STORED
);

CREATE TABLE public.feature_dependencies (
    child text NOT NULL,
    parent text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.feature_environments (
    feature text NOT NULL,
    environment text NOT NULL,
    enabled boolean DEFAULT false NOT NULL,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL,
    last_seen_at timestamp with time zone
);

CREATE TABLE public.feature_last_seen (
    feature text NOT NULL,
    environment text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

CREATE TABLE public.feature_stages (
    feature text NOT NULL,
    stage text NOT NULL,
    entered_at timestamp with time zone DEFAULT now() NOT NULL,
    status text,
    status_value text,
    CONSTRAINT feature_stages_stage_check CHECK ((stage = ANY (ARRAY['initial'::text, 'pre-live'::text, 'live'::text, 'completed'::text]))),
    CONSTRAINT feature_stages_status_check CHECK ((status = ANY (ARRAY['kept'::text, 'discarded'::text]))),
    CONSTRAINT feature_stages_status_value_check CHECK ((length(status_value) <= 100))
);

CREATE TABLE public.feature_strategies (
    id text NOT NULL,
    feature text NOT NULL,
    environment text NOT NULL,
    name text NOT NULL,
    title text,
    disabled boolean DEFAULT false NOT NULL,
    sort_order integer NOT NULL,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    constraints jsonb DEFAULT '[]'::jsonb NOT NULL,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT feature_strategies_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT feature_strategies_title_check CHECK ((length(title) <= 200))
);

CREATE TABLE public.feature_tags (
    feature text NOT NULL,
    type text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.feature_types (
    id text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    lifetime_days integer
);

CREATE TABLE public.features (
    name text NOT NULL,
    project text NOT NULL,
    type text NOT NULL,
    description text,
    stale boolean DEFAULT false NOT NULL,
    impression_data boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer,
    archived_at timestamp with time zone,
    last_seen_at timestamp with time zone,
    CONSTRAINT features_description_check CHECK ((length(description) <= 5000)),
    CONSTRAINT features_name_check CHECK ((name ~ '^[A-Za-z0-9._~-]{1,100}$'::text))
);

CREATE TABLE public.former_passwords (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    password_hash text NOT NULL
);

ALTER TABLE public.former_passwords ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.former_passwords_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.holds (
    run_id bigint NOT NULL,
    "position" integer NOT NULL,
    action_set_id integer NOT NULL,
    feature text NOT NULL,
    environment text NOT NULL,
    change jsonb NOT NULL,
    held_at timestamp with time zone NOT NULL,
    kept_by text,
    kept_by_id integer,
    kept_at timestamp with time zone
);

CREATE TABLE public.impact_groups (
    key uuid NOT NULL,
    sdk_type text NOT NULL,
    environment text NOT NULL,
    app_name text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    bounds double precision[] NOT NULL,
    CONSTRAINT impact_groups_sdk_type_check CHECK ((sdk_type = ANY (ARRAY['backend'::text, 'frontend'::text]))),
    CONSTRAINT impact_groups_type_check CHECK ((type = ANY (ARRAY['counter'::text, 'gauge'::text, 'histogram'::text])))
);

CREATE TABLE public.impact_series (
    key uuid NOT NULL,
    sdk_type text NOT NULL,
    environment text NOT NULL,
    app_name text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    help text NOT NULL,
    labels jsonb NOT NULL,
    bounds double precision[] NOT NULL,
    value double precision NOT NULL,
    count double precision NOT NULL,
    buckets double precision[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    reported_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT impact_series_sdk_type_check CHECK ((sdk_type = ANY (ARRAY['backend'::text, 'frontend'::text]))),
    CONSTRAINT impact_series_type_check CHECK ((type = ANY (ARRAY['counter'::text, 'gauge'::text, 'histogram'::text])))
)
WITH (fillfactor='70');

CREATE VIEW public.impact_sources AS
 SELECT impact_groups.key,
    impact_groups.sdk_type,
    impact_groups.environment,
    impact_groups.app_name,
    impact_groups.name,
    impact_groups.type,
    impact_groups.bounds,
    '{}'::jsonb AS labels,
    true AS is_group
   FROM public.impact_groups
UNION ALL
 SELECT impact_series.key,
    impact_series.sdk_type,
    impact_series.environment,
    impact_series.app_name,
    impact_series.name,
    impact_series.type,
    impact_series.bounds,
    impact_series.labels,
    false AS is_group
   FROM public.impact_series;

CREATE TABLE public.impact_windows (
    series uuid NOT NULL,
    seconds integer NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    is_gauge boolean NOT NULL,
    value double precision NOT NULL,
    count double precision NOT NULL,
    covers_from timestamp with time zone,
    covers_to timestamp with time zone,
    total double precision,
    samples double precision,
    buckets double precision[]
);

CREATE TABLE public.integration_leases (
    integration_id integer CONSTRAINT integration_claims_integration_id_not_null NOT NULL,
    leased_by text CONSTRAINT integration_claims_claimed_by_not_null NOT NULL,
    leased_until timestamp with time zone CONSTRAINT integration_claims_claimed_until_not_null NOT NULL
);

COMMENT ON TABLE public.integration_leases IS 'The process that sends from the queue of an integration.';

CREATE TABLE public.integrations (
    id integer NOT NULL,
    provider text NOT NULL,
    enabled boolean NOT NULL,
    description text,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    secrets bytea,
    events text[] NOT NULL,
    projects text[] DEFAULT '{}'::text[] NOT NULL,
    environments text[] DEFAULT '{}'::text[] NOT NULL,
    disabled_reason text,
    source text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    name text
);

COMMENT ON COLUMN public.integrations.secrets IS 'The sensitive parameters: encrypted JSON.';

COMMENT ON COLUMN public.integrations.source IS 'The server and the ID that an import took it from.';

COMMENT ON COLUMN public.integrations.name IS 'For people; nothing refers to it.';

ALTER TABLE public.integrations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.integrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.metric_sources (
    name text NOT NULL,
    url text NOT NULL,
    auth jsonb NOT NULL,
    headers jsonb NOT NULL,
    timeout_seconds integer NOT NULL,
    encrypted_secret bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.once_pages (
    id text NOT NULL,
    page bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.outbox (
    id bigint NOT NULL,
    kind text NOT NULL,
    message_id text DEFAULT ('msg_'::text || gen_random_uuid()) NOT NULL,
    subject_id bigint,
    user_id integer,
    target jsonb NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    sent_at timestamp with time zone,
    given_up_at timestamp with time zone,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    event_id bigint
);

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.personal_tokens (
    id integer NOT NULL,
    user_id integer NOT NULL,
    description text NOT NULL,
    secret_hash bytea NOT NULL,
    secret_prefix text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    CONSTRAINT personal_tokens_description_check CHECK (((length(description) >= 1) AND (length(description) <= 255)))
);

ALTER TABLE public.personal_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.personal_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.poll_intervals (
    environment text NOT NULL,
    seconds integer NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT poll_intervals_seconds_check CHECK (((seconds >= 0) AND (seconds <= 86400)))
);

CREATE TABLE public.project_environments (
    project text NOT NULL,
    environment text NOT NULL,
    default_strategy jsonb
);

CREATE TABLE public.projects (
    id text NOT NULL,
    name text NOT NULL,
    description text,
    mode text DEFAULT 'open'::text NOT NULL,
    default_stickiness text DEFAULT 'default'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    feature_naming jsonb,
    link_templates jsonb DEFAULT '[]'::jsonb NOT NULL,
    confirms_production boolean DEFAULT true NOT NULL,
    CONSTRAINT projects_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT projects_id_check CHECK ((id ~ '^[A-Za-z0-9._~-]{1,100}$'::text)),
    CONSTRAINT projects_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE public.refused_calls (
    id bigint NOT NULL,
    endpoint_id integer,
    endpoint_name text NOT NULL,
    status integer NOT NULL,
    reason text NOT NULL,
    secret_prefix text NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL,
    calls bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
);

ALTER TABLE public.refused_calls ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.refused_calls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.release_guards (
    id bigint NOT NULL,
    release_id bigint NOT NULL,
    "position" integer NOT NULL,
    kind text NOT NULL,
    endpoint_id integer,
    definition jsonb NOT NULL,
    state text NOT NULL,
    since timestamp with time zone NOT NULL,
    reason text,
    keys jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_watching boolean DEFAULT true NOT NULL,
    signal_ids jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_caught_up boolean DEFAULT true NOT NULL,
    ended jsonb DEFAULT '{}'::jsonb NOT NULL,
    rule_id integer,
    CONSTRAINT release_guards_kind_check CHECK ((kind = ANY (ARRAY['signal'::text, 'rule'::text, 'silence'::text]))),
    CONSTRAINT release_guards_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'firing'::text, 'unknown'::text])))
);

COMMENT ON COLUMN public.release_guards.ended IS 'When the alerts that ended last have ended, by their keys.';

ALTER TABLE public.release_guards ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.release_guards_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.releases (
    id bigint NOT NULL,
    feature text NOT NULL,
    environment text NOT NULL,
    strategy_id text NOT NULL,
    plan jsonb NOT NULL,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    state text NOT NULL,
    held_by text,
    held_reason text,
    held_guard_id bigint,
    step integer DEFAULT 0 NOT NULL,
    rollout integer NOT NULL,
    start_rollout integer NOT NULL,
    rolled_back_from integer,
    content jsonb NOT NULL,
    start_at timestamp with time zone,
    entered_at timestamp with time zone,
    due_at timestamp with time zone,
    evidence_at timestamp with time zone,
    resumed_at timestamp with time zone,
    propagation_seconds integer DEFAULT 15 NOT NULL,
    auto_resumes integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT releases_check CHECK (((state = 'held'::text) = (held_by IS NOT NULL))),
    CONSTRAINT releases_held_by_check CHECK ((held_by = ANY (ARRAY['person'::text, 'guard'::text, 'noData'::text, 'edit'::text, 'step'::text]))),
    CONSTRAINT releases_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'running'::text, 'held'::text, 'finished'::text, 'rolledBack'::text, 'stopped'::text])))
);

ALTER TABLE public.releases ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.releases_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.reset_tokens (
    token_hash bytea NOT NULL,
    user_id integer NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

CREATE TABLE public.revision_changes (
    revision bigint NOT NULL,
    previous bigint NOT NULL,
    environments text[],
    flags text[],
    segments integer[] NOT NULL
);

CREATE TABLE public.revisions (
    topic text NOT NULL,
    id bigint NOT NULL,
    event_id bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.roles (
    id integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL
);

CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.segments (
    id integer NOT NULL,
    name text NOT NULL,
    description text,
    project text,
    constraints jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    created_by_user_id integer,
    CONSTRAINT segments_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT segments_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE public.segments ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.segments_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.sessions (
    id_hash bytea NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    id bigint NOT NULL,
    last_used_at timestamp with time zone,
    ip text,
    user_agent text,
    identity_id bigint,
    provider_session text,
    provider_issued_at timestamp with time zone,
    id_token text,
    confirmed_at timestamp with time zone,
    CONSTRAINT sessions_user_agent_check CHECK ((length(user_agent) <= 200))
);

ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.settings (
    key text NOT NULL,
    value jsonb NOT NULL
);

CREATE TABLE public.signal_endpoint_tokens (
    id integer NOT NULL,
    signal_endpoint_id integer NOT NULL,
    name text NOT NULL,
    secret_hash bytea,
    secret_prefix text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer NOT NULL,
    type text DEFAULT 'bearer'::text NOT NULL,
    signature jsonb,
    encrypted_secret bytea,
    previous_secret_hash bytea,
    previous_encrypted_secret bytea,
    previous_expires_at timestamp with time zone,
    expires_at timestamp with time zone,
    allowed_addresses text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT signal_endpoint_tokens_check CHECK (((type = 'signature'::text) OR (secret_hash IS NOT NULL))),
    CONSTRAINT signal_endpoint_tokens_check1 CHECK (((type = 'bearer'::text) OR (signature IS NOT NULL))),
    CONSTRAINT signal_endpoint_tokens_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT signal_endpoint_tokens_type_check CHECK ((type = ANY (ARRAY['bearer'::text, 'signature'::text])))
);

ALTER TABLE public.signal_endpoint_tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.signal_endpoint_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.signal_endpoints (
    id integer NOT NULL,
    name text NOT NULL,
    description text,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer NOT NULL,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    template text,
    CONSTRAINT signal_endpoints_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT signal_endpoints_name_check CHECK ((name ~ '^[a-z0-9_-]{1,100}$'::text))
);

ALTER TABLE public.signal_endpoints ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.signal_endpoints_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.signal_queue (
    signal_id bigint NOT NULL,
    endpoint_id integer NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.signal_results (
    signal_id bigint CONSTRAINT signal_verdicts_signal_id_not_null NOT NULL,
    results jsonb CONSTRAINT signal_verdicts_verdicts_not_null NOT NULL
);

CREATE TABLE public.signal_token_uses (
    token_id integer NOT NULL,
    used_at timestamp with time zone NOT NULL,
    used_from text NOT NULL,
    uses bigint NOT NULL
);

CREATE TABLE public.signals (
    id bigint NOT NULL,
    endpoint_id integer NOT NULL,
    token_id integer NOT NULL,
    payload json NOT NULL,
    payload_bytes integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_by text,
    replay_of bigint,
    idempotency_key uuid
);

ALTER TABLE public.signals ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.signals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.strategy_segments (
    strategy_id text NOT NULL,
    segment_id integer NOT NULL
);

CREATE TABLE public.strategy_types (
    name text NOT NULL,
    title text,
    description text,
    parameters jsonb DEFAULT '[]'::jsonb NOT NULL,
    deprecated boolean DEFAULT false NOT NULL,
    built_in boolean DEFAULT false NOT NULL,
    sort_order integer DEFAULT 9999 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT strategy_types_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT strategy_types_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT strategy_types_title_check CHECK ((length(title) <= 200))
);

CREATE TABLE public.tag_types (
    name text NOT NULL,
    description text,
    icon text,
    color text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tag_types_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT tag_types_name_check CHECK ((name ~ '^[A-Za-z0-9._~-]{2,50}$'::text))
);

CREATE TABLE public.tags (
    type text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tags_value_check CHECK (((length(value) >= 2) AND (length(value) <= 50)))
);

CREATE TABLE public.user_identities (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_sign_in_at timestamp with time zone
);

ALTER TABLE public.user_identities ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.user_identities_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.users (
    id integer NOT NULL,
    account_type text DEFAULT 'user'::text NOT NULL,
    username text,
    email text,
    name text,
    role_id integer NOT NULL,
    password_hash text,
    has_built_in_password boolean DEFAULT false NOT NULL,
    login_attempts integer DEFAULT 0 NOT NULL,
    seen_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT users_account_type_check CHECK ((account_type = ANY (ARRAY['user'::text, 'service'::text]))),
    CONSTRAINT users_check CHECK (((username IS NOT NULL) OR (email IS NOT NULL))),
    CONSTRAINT users_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320))),
    CONSTRAINT users_name_check CHECK ((length(name) <= 200)),
    CONSTRAINT users_username_check CHECK (((length(username) >= 1) AND (length(username) <= 200)))
);

ALTER TABLE public.users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.action_runs
    ADD CONSTRAINT action_runs_action_set_id_signal_id_key UNIQUE (action_set_id, signal_id);

ALTER TABLE ONLY public.action_runs
    ADD CONSTRAINT action_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.action_sets
    ADD CONSTRAINT action_sets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.action_sets
    ADD CONSTRAINT action_sets_project_name_key UNIQUE (project, name);

ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_guard_id_key UNIQUE (guard_id);

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_name_key UNIQUE (name);

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (action_set_id, key_hash);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.audit_log_position
    ADD CONSTRAINT audit_log_position_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.client_application_environments
    ADD CONSTRAINT client_application_environments_pkey PRIMARY KEY (environment, sdk_type, app_name);

ALTER TABLE ONLY public.client_applications
    ADD CONSTRAINT client_applications_pkey PRIMARY KEY (app_name);

ALTER TABLE ONLY public.client_instances
    ADD CONSTRAINT client_instances_pkey PRIMARY KEY (app_name, instance_id, environment);

ALTER TABLE ONLY public.client_metrics
    ADD CONSTRAINT client_metrics_pkey PRIMARY KEY (feature, app_name, environment, hour);

ALTER TABLE ONLY public.client_metrics_variants
    ADD CONSTRAINT client_metrics_variants_pkey PRIMARY KEY (feature, app_name, environment, hour, variant);

ALTER TABLE ONLY public.context_fields
    ADD CONSTRAINT context_fields_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.favorite_features
    ADD CONSTRAINT favorite_features_pkey PRIMARY KEY (feature, user_id);

ALTER TABLE ONLY public.favorite_projects
    ADD CONSTRAINT favorite_projects_pkey PRIMARY KEY (project, user_id);

ALTER TABLE ONLY public.feature_dependencies
    ADD CONSTRAINT feature_dependencies_pkey PRIMARY KEY (child);

ALTER TABLE ONLY public.feature_environments
    ADD CONSTRAINT feature_environments_pkey PRIMARY KEY (feature, environment);

ALTER TABLE ONLY public.feature_last_seen
    ADD CONSTRAINT feature_last_seen_pkey PRIMARY KEY (feature, environment);

ALTER TABLE ONLY public.feature_stages
    ADD CONSTRAINT feature_stages_pkey PRIMARY KEY (feature, stage);

ALTER TABLE ONLY public.feature_strategies
    ADD CONSTRAINT feature_strategies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.feature_tags
    ADD CONSTRAINT feature_tags_pkey PRIMARY KEY (feature, type, value);

ALTER TABLE ONLY public.feature_types
    ADD CONSTRAINT feature_types_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.former_passwords
    ADD CONSTRAINT former_passwords_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (run_id, "position");

ALTER TABLE ONLY public.impact_groups
    ADD CONSTRAINT impact_groups_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.impact_series
    ADD CONSTRAINT impact_series_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.impact_windows
    ADD CONSTRAINT impact_windows_pkey PRIMARY KEY (series, seconds, starts_at);

ALTER TABLE ONLY public.integration_leases
    ADD CONSTRAINT integration_leases_pkey PRIMARY KEY (integration_id);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_name_key UNIQUE (name);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_source_key UNIQUE (source);

ALTER TABLE ONLY public.metric_sources
    ADD CONSTRAINT metric_sources_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.once_pages
    ADD CONSTRAINT once_pages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.personal_tokens
    ADD CONSTRAINT personal_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.personal_tokens
    ADD CONSTRAINT personal_tokens_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.personal_tokens
    ADD CONSTRAINT personal_tokens_user_id_description_key UNIQUE (user_id, description);

ALTER TABLE ONLY public.poll_intervals
    ADD CONSTRAINT poll_intervals_pkey PRIMARY KEY (environment, seconds);

ALTER TABLE ONLY public.project_environments
    ADD CONSTRAINT project_environments_pkey PRIMARY KEY (project, environment);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.refused_calls
    ADD CONSTRAINT refused_calls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.release_guards
    ADD CONSTRAINT release_guards_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT releases_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.reset_tokens
    ADD CONSTRAINT reset_tokens_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.revision_changes
    ADD CONSTRAINT revision_changes_pkey PRIMARY KEY (revision);

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (topic);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_name_key UNIQUE (name);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_name_key UNIQUE (name);

ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_id_key UNIQUE (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id_hash);

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.signal_endpoint_tokens
    ADD CONSTRAINT signal_endpoint_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.signal_endpoint_tokens
    ADD CONSTRAINT signal_endpoint_tokens_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.signal_endpoint_tokens
    ADD CONSTRAINT signal_endpoint_tokens_signal_endpoint_id_name_key UNIQUE (signal_endpoint_id, name);

ALTER TABLE ONLY public.signal_endpoints
    ADD CONSTRAINT signal_endpoints_name_key UNIQUE (name);

ALTER TABLE ONLY public.signal_endpoints
    ADD CONSTRAINT signal_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.signal_queue
    ADD CONSTRAINT signal_queue_pkey PRIMARY KEY (signal_id);

ALTER TABLE ONLY public.signal_results
    ADD CONSTRAINT signal_results_pkey PRIMARY KEY (signal_id);

ALTER TABLE ONLY public.signal_token_uses
    ADD CONSTRAINT signal_token_uses_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY public.signals
    ADD CONSTRAINT signals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.strategy_segments
    ADD CONSTRAINT strategy_segments_pkey PRIMARY KEY (strategy_id, segment_id);

ALTER TABLE ONLY public.strategy_types
    ADD CONSTRAINT strategy_types_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.tag_types
    ADD CONSTRAINT tag_types_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_pkey PRIMARY KEY (type, value);

ALTER TABLE ONLY public.user_identities
    ADD CONSTRAINT user_identities_issuer_subject_key UNIQUE (issuer, subject);

ALTER TABLE ONLY public.user_identities
    ADD CONSTRAINT user_identities_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.user_identities
    ADD CONSTRAINT user_identities_user_id_issuer_key UNIQUE (user_id, issuer);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

CREATE INDEX action_runs_counted_idx ON public.action_runs USING btree (action_set_id, created_at) WHERE ((cause = 'signal'::text) AND (state <> 'suppressed'::text));

CREATE INDEX action_runs_created_at_idx ON public.action_runs USING brin (created_at);

CREATE INDEX action_runs_due_idx ON public.action_runs USING btree (revert_due_at) WHERE (revert_due_at IS NOT NULL);

CREATE INDEX action_runs_open_idx ON public.action_runs USING btree (id) WHERE (state = 'started'::text);

CREATE INDEX action_runs_set_idx ON public.action_runs USING btree (action_set_id, id DESC);

CREATE INDEX action_runs_signal_id_idx ON public.action_runs USING btree (signal_id);

CREATE INDEX action_runs_skipped_idx ON public.action_runs USING btree (action_set_id, created_at) WHERE (state = 'suppressed'::text);

CREATE INDEX action_sets_due_at_idx ON public.action_sets USING btree (due_at) WHERE ((endpoint_id = 0) AND enabled AND (due_at IS NOT NULL));

CREATE INDEX action_sets_endpoint_idx ON public.action_sets USING btree (endpoint_id);

CREATE INDEX actions_action_set_id_idx ON public.actions USING btree (action_set_id, sort_order);

CREATE INDEX alert_rules_due_at_idx ON public.alert_rules USING btree (due_at) WHERE enabled;

CREATE INDEX alert_rules_endpoint_id_idx ON public.alert_rules USING btree (endpoint_id);

CREATE INDEX alert_rules_silent_endpoint_idx ON public.alert_rules USING btree (silent_endpoint_id) WHERE (silent_endpoint_id IS NOT NULL);

CREATE INDEX alerts_firing_idx ON public.alerts USING btree (action_set_id, key_hash) WHERE (is_firing AND (ignored_by IS NULL));

CREATE INDEX alerts_reported_idx ON public.alerts USING btree (reported_at);

CREATE INDEX alerts_run_idx ON public.alerts USING btree (run_id);

CREATE INDEX api_tokens_token_name_idx ON public.api_tokens USING btree (token_name);

CREATE INDEX client_instances_environment_idx ON public.client_instances USING btree (environment, sdk_type);

CREATE INDEX client_instances_last_seen_idx ON public.client_instances USING btree (last_seen);

CREATE INDEX client_metrics_hour_idx ON public.client_metrics USING btree (hour);

CREATE INDEX client_metrics_variants_hour_idx ON public.client_metrics_variants USING btree (hour);

CREATE INDEX events_created_at_idx ON public.events USING brin (created_at);

CREATE INDEX events_created_by_id_idx ON public.events USING btree (created_by, id DESC);

CREATE INDEX events_created_by_user_id_idx ON public.events USING btree (created_by_user_id, id DESC);

CREATE INDEX events_environment_id_idx ON public.events USING btree (environment, id DESC);

CREATE INDEX events_feature_name_id_idx ON public.events USING btree (feature_name, id DESC);

CREATE INDEX events_no_user_idx ON public.events USING btree (id DESC) WHERE (created_by_user_id IS NULL);

CREATE INDEX events_project_id_idx ON public.events USING btree (project, id DESC);

CREATE INDEX events_release_idx ON public.events USING btree (((data -> 'releaseId'::text)), id) WHERE (type ~~ 'release-%'::text);

CREATE INDEX events_type_id_idx ON public.events USING btree (type, id DESC);

CREATE INDEX favorite_features_account_id_idx ON public.favorite_features USING btree (account_id);

CREATE INDEX favorite_projects_account_id_idx ON public.favorite_projects USING btree (account_id);

CREATE INDEX feature_dependencies_parent_idx ON public.feature_dependencies USING btree (parent);

CREATE INDEX feature_environments_environment_idx ON public.feature_environments USING btree (environment);

CREATE INDEX feature_strategies_environment_idx ON public.feature_strategies USING btree (environment, feature, sort_order);

CREATE INDEX feature_strategies_feature_idx ON public.feature_strategies USING btree (feature);

CREATE INDEX feature_tags_type_value_idx ON public.feature_tags USING btree (type, value);

CREATE INDEX features_active_idx ON public.features USING btree (project, stale) WHERE (archived_at IS NULL);

CREATE INDEX features_project_idx ON public.features USING btree (project);

CREATE INDEX former_passwords_user_id_idx ON public.former_passwords USING btree (user_id, id DESC);

CREATE INDEX holds_feature_idx ON public.holds USING btree (feature);

CREATE INDEX holds_set_idx ON public.holds USING btree (action_set_id, run_id);

CREATE INDEX impact_groups_app_name_idx ON public.impact_groups USING btree (app_name);

CREATE INDEX impact_groups_name_app_name_idx ON public.impact_groups USING btree (name, environment, sdk_type, app_name);

CREATE INDEX impact_series_app_name_idx ON public.impact_series USING btree (app_name, environment, sdk_type);

CREATE INDEX impact_series_labels_idx ON public.impact_series USING gin (labels);

CREATE INDEX impact_series_name_idx ON public.impact_series USING btree (name, environment);

CREATE INDEX impact_windows_starts_at_idx ON public.impact_windows USING btree (seconds, starts_at);

CREATE INDEX outbox_due_message_idx ON public.outbox USING btree (due_at) WHERE ((kind <> 'integration'::text) AND (sent_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX outbox_event_idx ON public.outbox USING btree (event_id) WHERE ((event_id IS NOT NULL) AND (sent_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX outbox_integration_idx ON public.outbox USING btree (subject_id, id) WHERE ((kind = 'integration'::text) AND (sent_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX outbox_settled_idx ON public.outbox USING btree (COALESCE(sent_at, given_up_at)) WHERE (COALESCE(sent_at, given_up_at) IS NOT NULL);

CREATE INDEX outbox_subject_idx ON public.outbox USING btree (subject_id, kind, id DESC) WHERE (subject_id IS NOT NULL);

CREATE INDEX outbox_user_id_idx ON public.outbox USING btree (user_id, id DESC) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX outbox_waiting_mail_key ON public.outbox USING btree (user_id, kind) WHERE ((user_id IS NOT NULL) AND (sent_at IS NULL) AND (given_up_at IS NULL));

CREATE INDEX project_environments_environment_idx ON public.project_environments USING btree (environment);

CREATE INDEX refused_calls_endpoint_id_idx ON public.refused_calls USING btree (endpoint_id);

CREATE INDEX refused_calls_endpoint_name_idx ON public.refused_calls USING btree (endpoint_name);

CREATE INDEX release_guards_endpoint_id_idx ON public.release_guards USING btree (endpoint_id) WHERE is_watching;

CREATE INDEX release_guards_release_id_idx ON public.release_guards USING btree (release_id, "position");

CREATE INDEX release_guards_rule_idx ON public.release_guards USING btree (rule_id) WHERE (rule_id IS NOT NULL);

CREATE UNIQUE INDEX releases_active_key ON public.releases USING btree (feature, environment) WHERE (state = ANY (ARRAY['scheduled'::text, 'running'::text, 'held'::text]));

CREATE INDEX releases_environment_idx ON public.releases USING btree (environment);

CREATE INDEX releases_feature_idx ON public.releases USING btree (feature, environment, id DESC);

CREATE INDEX reset_tokens_expires_at_idx ON public.reset_tokens USING btree (expires_at);

CREATE INDEX reset_tokens_user_id_idx ON public.reset_tokens USING btree (user_id);

CREATE INDEX segments_project_idx ON public.segments USING btree (project);

CREATE INDEX sessions_expires_at_idx ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_identity_id ON public.sessions USING btree (identity_id) WHERE (identity_id IS NOT NULL);

CREATE INDEX sessions_user_id_idx ON public.sessions USING btree (user_id);

CREATE INDEX signals_created_at_idx ON public.signals USING brin (created_at);

CREATE INDEX signals_endpoint_id_idx ON public.signals USING btree (endpoint_id, id DESC);

CREATE UNIQUE INDEX signals_idempotency_key_idx ON public.signals USING btree (endpoint_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX signals_token_id_idx ON public.signals USING btree (token_id, id DESC);

CREATE INDEX strategy_segments_segment_id_idx ON public.strategy_segments USING btree (segment_id);

CREATE UNIQUE INDEX users_email_key ON public.users USING btree (lower(email));

CREATE UNIQUE INDEX users_username_key ON public.users USING btree (lower(username));

CREATE TRIGGER revisions_notify AFTER INSERT OR UPDATE ON public.revisions FOR EACH STATEMENT EXECUTE FUNCTION public.notify_revisions();

CREATE TRIGGER revisions_set_event_id BEFORE INSERT OR UPDATE ON public.revisions FOR EACH ROW EXECUTE FUNCTION public.set_revision_event_id();

ALTER TABLE ONLY public.action_sets
    ADD CONSTRAINT action_sets_project_fkey FOREIGN KEY (project) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.actions
    ADD CONSTRAINT actions_action_set_id_fkey FOREIGN KEY (action_set_id) REFERENCES public.action_sets(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.signal_endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_guard_id_fkey FOREIGN KEY (guard_id) REFERENCES public.release_guards(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alert_rules
    ADD CONSTRAINT alert_rules_silent_endpoint_id_fkey FOREIGN KEY (silent_endpoint_id) REFERENCES public.signal_endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_action_set_id_fkey FOREIGN KEY (action_set_id) REFERENCES public.action_sets(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.favorite_features
    ADD CONSTRAINT favorite_features_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.favorite_features
    ADD CONSTRAINT favorite_features_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.favorite_projects
    ADD CONSTRAINT favorite_projects_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.favorite_projects
    ADD CONSTRAINT favorite_projects_project_fkey FOREIGN KEY (project) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_dependencies
    ADD CONSTRAINT feature_dependencies_child_fkey FOREIGN KEY (child) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_dependencies
    ADD CONSTRAINT feature_dependencies_parent_fkey FOREIGN KEY (parent) REFERENCES public.features(name);

ALTER TABLE ONLY public.feature_environments
    ADD CONSTRAINT feature_environments_environment_fkey FOREIGN KEY (environment) REFERENCES public.environments(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_environments
    ADD CONSTRAINT feature_environments_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_stages
    ADD CONSTRAINT feature_stages_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_strategies
    ADD CONSTRAINT feature_strategies_environment_fkey FOREIGN KEY (environment) REFERENCES public.environments(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_strategies
    ADD CONSTRAINT feature_strategies_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_tags
    ADD CONSTRAINT feature_tags_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.feature_tags
    ADD CONSTRAINT feature_tags_type_value_fkey FOREIGN KEY (type, value) REFERENCES public.tags(type, value) ON DELETE CASCADE;

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_project_fkey FOREIGN KEY (project) REFERENCES public.projects(id);

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_type_fkey FOREIGN KEY (type) REFERENCES public.feature_types(id);

ALTER TABLE ONLY public.former_passwords
    ADD CONSTRAINT former_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_action_set_id_fkey FOREIGN KEY (action_set_id) REFERENCES public.action_sets(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.personal_tokens
    ADD CONSTRAINT personal_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.project_environments
    ADD CONSTRAINT project_environments_environment_fkey FOREIGN KEY (environment) REFERENCES public.environments(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.project_environments
    ADD CONSTRAINT project_environments_project_fkey FOREIGN KEY (project) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.refused_calls
    ADD CONSTRAINT refused_calls_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.signal_endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.release_guards
    ADD CONSTRAINT release_guards_release_id_fkey FOREIGN KEY (release_id) REFERENCES public.releases(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.release_guards
    ADD CONSTRAINT release_guards_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES public.alert_rules(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT releases_environment_fkey FOREIGN KEY (environment) REFERENCES public.environments(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT releases_feature_fkey FOREIGN KEY (feature) REFERENCES public.features(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.reset_tokens
    ADD CONSTRAINT reset_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_project_fkey FOREIGN KEY (project) REFERENCES public.projects(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_identity_id_fkey FOREIGN KEY (identity_id) REFERENCES public.user_identities(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.signal_endpoint_tokens
    ADD CONSTRAINT signal_endpoint_tokens_signal_endpoint_id_fkey FOREIGN KEY (signal_endpoint_id) REFERENCES public.signal_endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.signal_token_uses
    ADD CONSTRAINT signal_token_uses_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.signal_endpoint_tokens(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.strategy_segments
    ADD CONSTRAINT strategy_segments_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES public.segments(id);

ALTER TABLE ONLY public.strategy_segments
    ADD CONSTRAINT strategy_segments_strategy_id_fkey FOREIGN KEY (strategy_id) REFERENCES public.feature_strategies(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_type_fkey FOREIGN KEY (type) REFERENCES public.tag_types(name) ON DELETE CASCADE;

ALTER TABLE ONLY public.user_identities
    ADD CONSTRAINT user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id);
