DROP TABLE notifications, silence_notifications, mails;  -- their messages are in the outbox
