/** Keys: `llm0_live_` + 64 hex digits, 256 random bits. The store has only the SHA-256. */
const PREFIX = 'llm0_live_';
const SHOWN_CHARACTERS = PREFIX.length + 6;

export interface NewKeySecret {
  /** Shown once, on creation. */
  readonly secret: string;
  /** SHA-256 of the secret, lower-case hex. */
  readonly hash: string;
  /** The first characters, for recognising a key in lists. */
  readonly prefix: string;
}

export function createKeySecret(): NewKeySecret {
  return keySecretOf(PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'));
}

/** Parts of a given secret, which `isKeySecret` accepts. */
export function keySecretOf(secret: string): NewKeySecret {
  return { secret, hash: hashSecret(secret), prefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/** True for the form that `createKeySecret` makes: enough characters for 256 random bits. */
export const isKeySecret = (text: string): boolean => looksLikeKey(text) && /_[0-9a-f]{64}$/.test(text);

/** SHA-256, lower-case hex. */
export function hashSecret(secret: string): string {
  return Bun.CryptoHasher.hash('sha256', secret, 'hex');
}

/** False for text that can't be a key and so costs no look-up. */
export function looksLikeKey(text: string): boolean {
  return text.length === PREFIX.length + 64 && text.startsWith(PREFIX);
}
