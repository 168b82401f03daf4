import type { JsonObject } from '../chat/json';

/** What a secret of a session stands for. */
export interface SecretGrant {
  readonly apiKeyId: string;
  /** Name of the model, as its key's owner names it. */
  readonly model: string;
  /** First settings, without the model. */
  readonly session: JsonObject;
  /** Headers about customer, run and labels: a browser sends none. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface StoredSecret extends SecretGrant {
  /** The key's. */
  readonly keyHash: string;
}

export interface RealtimeSecrets {
  /** Keeps a secret by its hash for so many seconds; gives its end in epoch seconds. */
  keep(hash: string, grant: SecretGrant, seconds: number): Promise<number>;
  /** undefined: unknown, or over. */
  find(hash: string): Promise<StoredSecret | undefined>;
}

const PREFIX = 'ek_llm0_';

/** 256 random bits. */
export const createSessionSecret = (): string =>
  PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');

export const isSessionSecret = (text: string): boolean => text.startsWith(PREFIX);
