-- A waiting delivery of an integration was in six indexes, two of which are for other messages. Each
-- claim and each result wrote to all of them.
--
-- The previous version finds its messages with outbox_due_message_idx, and inserts mails with
-- ON CONFLICT DO NOTHING, which names no index.

DROP INDEX outbox_due_idx;
DROP INDEX outbox_waiting_mail_key;
CREATE UNIQUE INDEX outbox_waiting_mail_key ON outbox (user_id, kind)
    WHERE user_id IS NOT NULL AND sent_at IS NULL AND given_up_at IS NULL;
