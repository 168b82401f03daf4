-- Statistics are answered from five roll-ups: minutes, hours, days, days by customer, and errors. What was ranked or added up
-- from them beforehand goes.
DROP TABLE rollup_quarter, rollup_latency_short, rollup_latency_hour, rollup_latency_quarter, rollup_latency_day,
  rollup_durations, rollup_durations_day, rollup_durations_hour, rollup_durations_hour_made,
  customer_spend_week, customer_spend_total, customer_spend_week_made,
  customer_spend_hour, customer_spend_hour_changes, customer_spend_hour_made;

-- A histogram's elements are four bytes each, count * 2^10 + bin, big-endian; a bin may come more than once, so that one
-- histogram behind another is their sum. A count beyond 21 bits is told by several elements.
CREATE FUNCTION llm0_histogram_element(bin bigint, n bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  packed bytea := '';
  part bigint;
BEGIN
  WHILE n <> 0 LOOP
    part := greatest(-2097151, least(2097151, n));
    packed := packed || int4send((part * 1024 + bin)::integer);
    n := n - part;
  END LOOP;
  RETURN packed;
END
$$;

-- The same histogram with each bin once, in order; bins whose counts cancel each other fall out.
CREATE FUNCTION llm0_histogram_compact(h bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT coalesce(string_agg(
      CASE WHEN abs(n) <= 2097151 THEN int4send((n * 1024 + bin)::integer) ELSE llm0_histogram_element(bin, n) END,
      ''::bytea ORDER BY bin), '')
    FROM (
      SELECT e & 1023 AS bin, sum(e >> 10) AS n
      FROM (
        SELECT (get_byte(h, i) << 24) | (get_byte(h, i + 1) << 16) | (get_byte(h, i + 2) << 8) | get_byte(h, i + 3) AS e
        FROM generate_series(0, length(h) - 4, 4) AS i
      ) AS elements GROUP BY 1
    ) AS bins WHERE n <> 0
  );
END
$$;

-- What the old form, elements of bin * 2^40 + count, is in the new one. Only for this migration.
CREATE FUNCTION llm0_histogram_from_array(h bigint[]) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  packed bytea := '';
  e bigint;
  n bigint;
BEGIN
  FOREACH e IN ARRAY h LOOP
    n := e - (((e + 549755813888) >> 40) << 40);
    IF abs(n) <= 2097151 THEN
      packed := packed || int4send((n * 1024 + ((e + 549755813888) >> 40))::integer);
    ELSE
      packed := packed || llm0_histogram_element((e + 549755813888) >> 40, n);
    END IF;
  END LOOP;
  RETURN packed;
END
$$;
ALTER TABLE rollup_minute
  ALTER latency_histogram TYPE bytea USING llm0_histogram_from_array(latency_histogram),
  ALTER ttft_histogram TYPE bytea USING llm0_histogram_from_array(ttft_histogram),
  ALTER overhead_histogram TYPE bytea USING llm0_histogram_from_array(overhead_histogram),
  ALTER upstream_histogram TYPE bytea USING llm0_histogram_from_array(upstream_histogram);
ALTER TABLE rollup_hour
  ALTER latency_histogram TYPE bytea USING llm0_histogram_from_array(latency_histogram),
  ALTER ttft_histogram TYPE bytea USING llm0_histogram_from_array(ttft_histogram),
  ALTER overhead_histogram TYPE bytea USING llm0_histogram_from_array(overhead_histogram),
  ALTER upstream_histogram TYPE bytea USING llm0_histogram_from_array(upstream_histogram);
ALTER TABLE rollup_day
  ALTER latency_histogram TYPE bytea USING llm0_histogram_from_array(latency_histogram),
  ALTER ttft_histogram TYPE bytea USING llm0_histogram_from_array(ttft_histogram),
  ALTER overhead_histogram TYPE bytea USING llm0_histogram_from_array(overhead_histogram),
  ALTER upstream_histogram TYPE bytea USING llm0_histogram_from_array(upstream_histogram);
DROP FUNCTION llm0_histogram_from_array(bigint[]), llm0_histogram_add(bigint[], bigint[]),
  llm0_histogram_of(double precision), llm0_histogram_bin(bigint), llm0_histogram_count(bigint);

-- Sum of two histograms: one behind the other, made compact once a kilobyte.
CREATE FUNCTION llm0_histogram_add(a bytea, b bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN (length(a) + length(b)) >> 10 = length(a) >> 10 THEN a || b ELSE llm0_histogram_compact(a || b) END
$$;
-- One measured duration as a histogram, null for none; the same bins as packages/core/src/logs/histogram.ts.
CREATE FUNCTION llm0_histogram_of(ms double precision) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN ms IS NULL THEN NULL
    WHEN ms <= 0.001 THEN int4send(1024)
    ELSE int4send(1024 + least(600, ceil(ln(ms / 0.001) / ln(1.02 / 0.98)))::integer)
  END
$$;
