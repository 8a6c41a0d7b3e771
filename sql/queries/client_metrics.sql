-- How often flags were on and off, summed by hour.

-- name: list_client_metrics_hours
-- One flag's newest `hours` hours, the running one included, summed over applications.
SELECT environment, hour, sum(yes)::bigint AS yes, sum(no)::bigint AS no
FROM client_metrics
WHERE feature = %(feature)s
  AND hour > now() - make_interval(hours => %(hours)s)
GROUP BY environment, hour
ORDER BY hour, environment;
