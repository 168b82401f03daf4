alter table gateway_log_bodies add column if not exists upstream_request_body Nullable(String) codec(ZSTD(3)) after request_body;
