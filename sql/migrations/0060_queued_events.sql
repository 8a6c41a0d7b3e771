DROP TABLE unqueued_events;  -- deliveries are stored with their events
