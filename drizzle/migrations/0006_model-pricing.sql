-- prices: integer pico-USD per token by class; 1 pico-USD per token is 1e-9 USD per 1k tokens, so the generated columns are exact.
CREATE TABLE model_pricing (
  provider text NOT NULL,
  model text NOT NULL,
  mode text NOT NULL DEFAULT 'chat',
  prices jsonb NOT NULL,
  input_per_1k_tokens numeric(20,9) GENERATED ALWAYS AS ((prices ->> 'input')::numeric * 0.000000001) STORED,
  output_per_1k_tokens numeric(20,9) GENERATED ALWAYS AS ((prices ->> 'output')::numeric * 0.000000001) STORED,
  context_window bigint,
  max_output_tokens bigint,
  capabilities jsonb NOT NULL DEFAULT '[]',
  deprecation_date text,
  source text,
  -- An operator wrote (or deleted) this row: the seed leaves it alone.
  edited boolean NOT NULL DEFAULT false,
  deleted_at timestamptz(3),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, model)
);
