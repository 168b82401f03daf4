-- Which tools of a server's first list are approved. Servers from before approve all, as they did.
ALTER TABLE mcp_servers ADD COLUMN approve text NOT NULL DEFAULT 'all';
