-- Production first, unless the order of the built-in environments was changed. The environment "default", which
-- few installations use, is the last one.

UPDATE environments
SET sort_order = CASE name WHEN 'production' THEN 1 WHEN 'development' THEN 100 ELSE 200 END
WHERE (SELECT array_agg((name, sort_order)::text ORDER BY sort_order) FROM environments)
      = '{"(default,1)","(development,100)","(production,200)"}';
