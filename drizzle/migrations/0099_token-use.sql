-- When an admin token was last used, to a minute: one that nobody uses can be revoked.
ALTER TABLE admin_tokens ADD COLUMN last_used_at timestamptz;
