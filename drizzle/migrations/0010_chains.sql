-- Rows are the edited chains only; shipped ones come from the program. targets: [{provider, model, matches}].
ALTER TABLE chains ADD COLUMN local_tier text CHECK (local_tier IN ('flagship', 'balanced', 'budget'));
CREATE INDEX aliases_newest ON aliases (created_at DESC, id DESC);
