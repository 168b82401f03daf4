-- Of callers' headers, what goes on to a backend beside the usual ones.
ALTER TABLE backends ADD COLUMN forward_headers jsonb NOT NULL DEFAULT '[]';
