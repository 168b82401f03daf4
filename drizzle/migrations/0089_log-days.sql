-- Days of requests that another store of rows has as they are here.
CREATE TABLE log_days (
  store text NOT NULL,
  day date NOT NULL,
  rows bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  compared_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (store, day)
);
