-- Durations in steps of 15 minutes without keys, statuses and caches, kept as long as minutes: a chart of a day reads a
-- fraction of the minutes' rows.
-- Adding up in memory instead of on disk; for this transaction only.
SET LOCAL work_mem = '256MB';
CREATE TABLE rollup_latency_short (LIKE rollup_latency_hour INCLUDING ALL);
INSERT INTO rollup_latency_short
SELECT bucket, project_id, model, provider,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 1), '{}') AS latency_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 2), '{}') AS ttft_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 3), '{}') AS overhead_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 4), '{}') AS upstream_histogram
FROM (
  SELECT date_bin('15 minutes', bucket, '2000-01-01 00:00:00+00') AS bucket, project_id, model, provider, metric, llm0_histogram_bin(e) AS bin, sum(llm0_histogram_count(e))::bigint AS n
  FROM rollup_minute, LATERAL (
    SELECT 1 AS metric, unnest(latency_histogram) AS e UNION ALL SELECT 2, unnest(ttft_histogram) UNION ALL SELECT 3, unnest(overhead_histogram) UNION ALL SELECT 4, unnest(upstream_histogram)
  ) AS elements
  GROUP BY 1, 2, 3, 4, 5, 6
) AS bins GROUP BY 1, 2, 3, 4;
