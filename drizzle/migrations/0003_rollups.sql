-- Histograms are sparse: each element is bin * 2^40 + count (count may be negative in a delta), sorted by bin.
CREATE FUNCTION llm0_histogram_bin(element bigint) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$ SELECT ((element + 549755813888) >> 40)::integer $$;
CREATE FUNCTION llm0_histogram_count(element bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$ SELECT element - (((element + 549755813888) >> 40) << 40) $$;
-- Sum of two histograms; empty bins fall out.
CREATE FUNCTION llm0_histogram_add(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN b = '{}' THEN a ELSE COALESCE((
    SELECT array_agg((bin << 40) + n ORDER BY bin)
    FROM (
      SELECT (e + 549755813888) >> 40 AS bin, sum(e - (((e + 549755813888) >> 40) << 40))::bigint AS n
      FROM unnest(a || b) AS e GROUP BY 1
    ) AS bins WHERE n <> 0
  ), '{}') END
$$;
-- One measured duration as a histogram; the same bins as packages/core/src/logs/histogram.ts.
CREATE FUNCTION llm0_histogram_of(ms double precision) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN ms IS NULL THEN '{}'::bigint[]
    WHEN ms <= 0.001 THEN ARRAY[1::bigint]
    ELSE ARRAY[(least(600, ceil(ln(ms / 0.001) / ln(1.02 / 0.98)))::bigint << 40) + 1]
  END
$$;

-- Text columns are never null here ('' = unknown), so that they can be the key. provider = the one that answered.
CREATE TABLE rollup_minute (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  status text NOT NULL,
  cache text NOT NULL,
  requests bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  tokens_cache_read bigint NOT NULL,
  tokens_cache_write bigint NOT NULL,
  tokens_reasoning bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  failovers bigint NOT NULL,
  latency_histogram bigint[] NOT NULL,
  ttft_histogram bigint[] NOT NULL,
  overhead_histogram bigint[] NOT NULL,
  upstream_histogram bigint[] NOT NULL,
  PRIMARY KEY (bucket, project_id, api_key_id, model, provider, status, cache)
);
CREATE TABLE rollup_hour (LIKE rollup_minute INCLUDING ALL);
CREATE TABLE rollup_day (LIKE rollup_minute INCLUDING ALL);

-- Daily roll-up by customer.
CREATE TABLE customer_spend (
  project_id uuid NOT NULL,
  customer_id text NOT NULL,
  date date NOT NULL,
  request_count bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  total_spend_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (project_id, customer_id, date)
);
CREATE INDEX customer_spend_date ON customer_spend (date);
