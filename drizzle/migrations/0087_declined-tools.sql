-- Version of a tool that an operator looked at and left out: it no longer waits, until its server changes it.
ALTER TABLE mcp_tools ADD COLUMN declined_hash text;
