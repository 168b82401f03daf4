-- A run and a trace are few rows of all days. Older parts get the filters when they are merged.
alter table gateway_logs add index if not exists run_filter run_id type bloom_filter(0.01) granularity 1;
alter table gateway_logs add index if not exists trace_filter trace_id type bloom_filter(0.01) granularity 1;
