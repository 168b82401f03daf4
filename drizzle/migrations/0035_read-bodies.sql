-- Who may read kept prompts and answers; null: as the role says, admins and no viewers.
ALTER TABLE admin_tokens ADD COLUMN can_read_bodies boolean;
