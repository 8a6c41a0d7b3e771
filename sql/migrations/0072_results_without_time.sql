-- No statement reads it, and its name is a retired word.
ALTER TABLE signal_results DROP COLUMN judged_at;
