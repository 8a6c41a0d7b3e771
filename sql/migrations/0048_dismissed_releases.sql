-- The page of a flag doesn't show a release that has ended and was dismissed.

ALTER TABLE releases ADD COLUMN dismissed_at timestamptz;
