-- Lists of requests that admins share: filters as GET /logs takes them, columns in their order, and the sort.
CREATE TABLE saved_views (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  filters jsonb NOT NULL DEFAULT '{}',
  columns jsonb NOT NULL DEFAULT '[]',
  sort text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (lower(name));

-- What the provider got, beside what the client sent.
ALTER TABLE gateway_log_bodies ADD COLUMN upstream_request_body jsonb;
