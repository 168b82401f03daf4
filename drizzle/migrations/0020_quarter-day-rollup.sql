-- Quarters of a day: charts over two to six weeks read a sixth of the rows that hours would cost.
-- Adding up in memory instead of on disk; for this transaction only.
SET LOCAL work_mem = '256MB';
CREATE TABLE rollup_quarter (LIKE rollup_hour INCLUDING ALL);
CREATE TABLE rollup_latency_quarter (LIKE rollup_latency_hour INCLUDING ALL);
WITH sums AS (
  SELECT date_bin('6 hours', bucket, '2000-01-01 00:00:00+00') AS bucket, project_id, api_key_id, model, provider, status, cache,
    sum(requests) AS requests, sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, sum(tokens_cache_read) AS tokens_cache_read, sum(tokens_cache_write) AS tokens_cache_write, sum(tokens_reasoning) AS tokens_reasoning, sum(cost_usd) AS cost_usd, sum(saved_usd) AS saved_usd, sum(failovers) AS failovers
  FROM rollup_hour GROUP BY 1, 2, 3, 4, 5, 6, 7
), packed AS (
SELECT bucket, project_id, api_key_id, model, provider, status, cache,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 1), '{}') AS latency_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 2), '{}') AS ttft_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 3), '{}') AS overhead_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 4), '{}') AS upstream_histogram
FROM (
  SELECT date_bin('6 hours', bucket, '2000-01-01 00:00:00+00') AS bucket, project_id, api_key_id, model, provider, status, cache, metric, llm0_histogram_bin(e) AS bin, sum(llm0_histogram_count(e))::bigint AS n
  FROM rollup_hour, LATERAL (
    SELECT 1 AS metric, unnest(latency_histogram) AS e UNION ALL SELECT 2, unnest(ttft_histogram) UNION ALL SELECT 3, unnest(overhead_histogram) UNION ALL SELECT 4, unnest(upstream_histogram)
  ) AS elements
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
) AS bins GROUP BY 1, 2, 3, 4, 5, 6, 7
)
INSERT INTO rollup_quarter
SELECT bucket, project_id, api_key_id, model, provider, status, cache, requests, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd, failovers,
  coalesce(latency_histogram, '{}'), coalesce(ttft_histogram, '{}'), coalesce(overhead_histogram, '{}'), coalesce(upstream_histogram, '{}')
FROM sums LEFT JOIN packed USING (bucket, project_id, api_key_id, model, provider, status, cache);
INSERT INTO rollup_latency_quarter
SELECT bucket, project_id, model, provider,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 1), '{}') AS latency_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 2), '{}') AS ttft_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 3), '{}') AS overhead_histogram,
  coalesce(array_agg((bin::bigint << 40) + n ORDER BY bin) FILTER (WHERE metric = 4), '{}') AS upstream_histogram
FROM (
  SELECT date_bin('6 hours', bucket, '2000-01-01 00:00:00+00') AS bucket, project_id, model, provider, metric, llm0_histogram_bin(e) AS bin, sum(llm0_histogram_count(e))::bigint AS n
  FROM rollup_latency_hour, LATERAL (
    SELECT 1 AS metric, unnest(latency_histogram) AS e UNION ALL SELECT 2, unnest(ttft_histogram) UNION ALL SELECT 3, unnest(overhead_histogram) UNION ALL SELECT 4, unnest(upstream_histogram)
  ) AS elements
  GROUP BY 1, 2, 3, 4, 5, 6
) AS bins GROUP BY 1, 2, 3, 4;
