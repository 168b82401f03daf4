-- An exact hit on an answer that another wording had first: the request for which the semantic cache found it.
ALTER TABLE gateway_logs ADD COLUMN matched_by uuid;
