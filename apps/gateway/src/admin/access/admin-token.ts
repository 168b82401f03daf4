import { hashSecret, type NewKeySecret } from '@llm0/core/keys/api-key';

/** Admin tokens: `llm0_admin_` + 48 hex digits, 192 random bits. The store has only the SHA-256. */
const PREFIX = 'llm0_admin_';
const SECRET_BYTES = 24;
const SHOWN_CHARACTERS = PREFIX.length + 6;

export function createAdminSecret(): NewKeySecret {
  return adminSecretOf(PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('hex'));
}

/** Parts of a given secret, which `isAdminSecret` accepts. */
export function adminSecretOf(secret: string): NewKeySecret {
  return { secret, hash: hashSecret(secret), prefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/** True for the form that `createAdminSecret` makes. */
export const isAdminSecret = (text: string): boolean => looksLikeAdminToken(text) && /_[0-9a-f]{48}$/.test(text);

/** False for anything that can't be one: wrong sign-ins cost no look-up. */
export function looksLikeAdminToken(text: string): boolean {
  return text.length === PREFIX.length + SECRET_BYTES * 2 && text.startsWith(PREFIX);
}
