-- What a configuration file manages, by the name of its apply. `is_created`: an apply made the resource, so --prune may
-- delete it. `secret_digest`: salted SHA-256 of its secrets, which no answer of the admin API shows.
CREATE TABLE managed_resources (
  apply_name text NOT NULL,
  resource text NOT NULL,
  resource_id text NOT NULL,
  is_created boolean NOT NULL,
  secret_digest text,
  applied_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (apply_name, resource, resource_id)
);
CREATE INDEX managed_resources_of ON managed_resources (resource, resource_id);

-- At most one row: the apply that runs. It ends by itself if its process dies.
CREATE TABLE apply_lease (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  id uuid NOT NULL,
  apply_name text NOT NULL,
  actor text NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
