-- As `log_days`, of tool calls.
CREATE TABLE call_days (LIKE log_days INCLUDING ALL);
