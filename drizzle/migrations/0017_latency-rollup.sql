-- Durations by hour and day without keys, statuses and caches: percentiles over weeks read a few rows instead of all.
CREATE TABLE rollup_latency_hour (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  latency_histogram bigint[] NOT NULL,
  ttft_histogram bigint[] NOT NULL,
  overhead_histogram bigint[] NOT NULL,
  upstream_histogram bigint[] NOT NULL,
  PRIMARY KEY (bucket, project_id, model, provider)
);
CREATE TABLE rollup_latency_day (LIKE rollup_latency_hour INCLUDING ALL);
INSERT INTO rollup_latency_hour
SELECT bucket, project_id, model, provider,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 1), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 2), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 3), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 4), '{}')
FROM (
  SELECT bucket, project_id, model, provider, metric, llm0_histogram_bin(e) AS bin, sum(llm0_histogram_count(e))::bigint AS n
  FROM rollup_hour, LATERAL (
    SELECT 1 AS metric, unnest(latency_histogram) AS e UNION ALL SELECT 2, unnest(ttft_histogram)
    UNION ALL SELECT 3, unnest(overhead_histogram) UNION ALL SELECT 4, unnest(upstream_histogram)
  ) AS elements
  GROUP BY 1, 2, 3, 4, 5, 6
) AS bins GROUP BY 1, 2, 3, 4;
INSERT INTO rollup_latency_day
SELECT bucket, project_id, model, provider,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 1), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 2), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 3), '{}'),
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 4), '{}')
FROM (
  SELECT bucket, project_id, model, provider, metric, llm0_histogram_bin(e) AS bin, sum(llm0_histogram_count(e))::bigint AS n
  FROM rollup_day, LATERAL (
    SELECT 1 AS metric, unnest(latency_histogram) AS e UNION ALL SELECT 2, unnest(ttft_histogram)
    UNION ALL SELECT 3, unnest(overhead_histogram) UNION ALL SELECT 4, unnest(upstream_histogram)
  ) AS elements
  GROUP BY 1, 2, 3, 4, 5, 6
) AS bins GROUP BY 1, 2, 3, 4;
