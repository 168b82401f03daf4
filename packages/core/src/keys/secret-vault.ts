// Without a master key, sealing and opening fail with one clear message; everything else works.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors/gateway-error';

/** An encrypted secret: nonce, ciphertext and tag, with the id of its key. */
export interface SealedSecret {
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

export interface SecretVault {
  /** Encryption key; null without one. */
  readonly keyId: string | null;
  /** `place` names the row: the secret opens there only. Throws `conflict` where no master key is set. */
  seal(secret: string, place: string): SealedSecret;
  /** Throws where the key is another one, the place is another one, or a bit has changed. */
  open(sealed: SealedSecret, place: string): string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_CHARACTERS = 12;

const idOf = (masterKey: Uint8Array): string =>
  createHash('sha256').update('llm0 key id').update(masterKey).digest('hex').slice(0, KEY_ID_CHARACTERS);

/** AES-256-GCM. `masterKey`: 32 bytes; `previous`: earlier ones, which only open. */
export function createSecretVault(masterKey: Uint8Array, previous: readonly Uint8Array[] = []): SecretVault {
  const keyId = idOf(masterKey);
  const keys = new Map([...previous, masterKey].map((key) => [idOf(key), key]));
  return {
    keyId,
    seal: (secret, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, masterKey, nonce).setAAD(Buffer.from(place));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { keyId, bytes: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) };
    },
    open: (sealed, place) => {
      const key = keys.get(sealed.keyId);
      if (key === undefined) throw new Error(`sealed with the key ${sealed.keyId}, not with ${keyId}`);
      const bytes = Buffer.from(sealed.bytes);
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

/** Vault without a master key. */
export const closedVault: SecretVault = {
  keyId: null,
  seal: () => {
    const message =
      'Secrets cannot be stored: ENCRYPTION_KEY is not set. Set it to 32 random bytes (openssl rand -base64 32) in every ' +
      'gateway, keep it safe, and start again.';
    throw new GatewayError('conflict', message);
  },
  open: ({ keyId }) => {
    throw new Error(`sealed with the key ${keyId}, and ENCRYPTION_KEY is not set`);
  },
};
