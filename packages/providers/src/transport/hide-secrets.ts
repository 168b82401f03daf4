import { REDACTED } from '@llm0/core/logs/redact';
import type { ProviderConnection } from '../provider-request';

/** Shorter ones would take harmless words out of messages. */
const MIN_CHARACTERS = 6;

/** An upstream's text without the connection's secrets, which some servers repeat. */
export function hideSecrets(text: string, { apiKey = '', headers = {} }: ProviderConnection): string {
  // A key of several parts may be repeated by its parts.
  const secrets = [apiKey, ...apiKey.split(':'), ...Object.values(headers)];
  return secrets
    .filter((secret) => secret.length >= MIN_CHARACTERS)
    .reduce((hidden, secret) => hidden.replaceAll(secret, REDACTED), text);
}
