-- Who pays in the books of finance. A project's cost center counts before its team's; null = none.
ALTER TABLE teams ADD COLUMN cost_center text;
ALTER TABLE projects ADD COLUMN cost_center text;
