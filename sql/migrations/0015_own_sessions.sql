-- Users see their sessions, and sessions end when they are not used. The version before leaves the
-- new columns empty: its sessions count as last used when they were opened.

ALTER TABLE sessions
    ADD COLUMN id           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN last_used_at timestamptz,
    ADD COLUMN ip           text,
    ADD COLUMN user_agent   text CHECK (length(user_agent) <= 200);
