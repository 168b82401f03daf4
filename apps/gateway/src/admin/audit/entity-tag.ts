import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { parseStored } from '../fields/json-money';

const LENGTH = 24;
/** Fields that change without an operator; the tag ignores them. */
const BY_ITSELF = new Set([
  'state',
  'until',
  'is_firing',
  'was_told',
  'changed_at',
  'last_error',
  'is_configured',
  'is_priced',
  'is_free',
  'health',
]);

/** The tag of a thing as the API shows it, strong: other text, other tag. Source: RFC 9110, section 8.8.3. */
export function entityTag(shownJson: string): string {
  const kept = JSON.stringify(parseStored(shownJson), (name, value: unknown) =>
    BY_ITSELF.has(name) || isTroubles(name, value) ? undefined : value,
  );
  return `"${hashSecret(kept).slice(0, LENGTH)}"`;
}

/** A provider's targets are health data; those of aliases and chains are settings. */
const isTroubles = (name: string, value: unknown): boolean =>
  name === 'targets' && Array.isArray(value) && value.every((one) => typeof one === 'object' && 'state' in one);

/** True if `If-Match` contains the tag. A compressing proxy may have weakened it. */
export const namesTag = (ifMatch: string, tag: string): boolean =>
  ifMatch.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);

const MESSAGE =
  'It changed since you read it; `current` is the present state. Read it again, and send the change with its ETag.';

/** 412: the entity of `If-Match` changed. `currentJson` is the current one, unless another change was faster. */
export class ChangedMeanwhile extends GatewayError {
  constructor(readonly currentJson: string | null) {
    super('conflict', MESSAGE, { status: 412, param: 'If-Match' });
  }
}
