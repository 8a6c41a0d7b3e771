-- Today's schema, generated from the migrations for reading; never executed.

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
    pre_data jsonb
);

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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

CREATE TABLE public.sessions (
    id_hash bytea NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.signal_endpoint_tokens (
    id integer NOT NULL,
    signal_endpoint_id integer NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    secret_prefix text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer NOT NULL,
    CONSTRAINT signal_endpoint_tokens_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
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

CREATE TABLE public.signals (
    id bigint NOT NULL,
    endpoint_id integer NOT NULL,
    token_id integer NOT NULL,
    payload json NOT NULL,
    payload_bytes integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.signals ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.signals_id_seq
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

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_name_key UNIQUE (name);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id_hash);

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

ALTER TABLE ONLY public.signals
    ADD CONSTRAINT signals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

CREATE INDEX events_no_user_idx ON public.events USING btree (id DESC) WHERE (created_by_user_id IS NULL);

CREATE INDEX events_type_id_idx ON public.events USING btree (type, id DESC);

CREATE INDEX sessions_expires_at_idx ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_user_id_idx ON public.sessions USING btree (user_id);

CREATE INDEX signals_created_at_idx ON public.signals USING brin (created_at);

CREATE INDEX signals_endpoint_id_idx ON public.signals USING btree (endpoint_id, id DESC);

CREATE INDEX signals_token_id_idx ON public.signals USING btree (token_id, id DESC);

CREATE UNIQUE INDEX users_email_key ON public.users USING btree (lower(email));

CREATE UNIQUE INDEX users_username_key ON public.users USING btree (lower(username));

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.signal_endpoint_tokens
    ADD CONSTRAINT signal_endpoint_tokens_signal_endpoint_id_fkey FOREIGN KEY (signal_endpoint_id) REFERENCES public.signal_endpoints(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id);
