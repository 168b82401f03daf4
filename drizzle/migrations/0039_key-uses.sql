-- When each key was used last; apart from the keys, so that no request changes what an operator is changing. Of requests before
-- this version the roll-ups know the minute, the hour or the day.
CREATE TABLE api_key_uses (
  api_key_id uuid PRIMARY KEY,
  last_used_at timestamptz NOT NULL
);
INSERT INTO api_key_uses (api_key_id, last_used_at)
  SELECT api_key_id, max(bucket) FROM (
    SELECT api_key_id, bucket FROM rollup_minute UNION ALL
    SELECT api_key_id, bucket FROM rollup_hour UNION ALL
    SELECT api_key_id, bucket FROM rollup_day) AS used
   GROUP BY api_key_id;
