import type { SecretVault } from '@llm0/core/keys/secret-vault';
import { z } from 'zod';

const NAME = 'llm0_sign_in';
/** Binds the ciphertext to its purpose. */
const PLACE = 'llm0 sign-in';
const LIFETIME_S = 600;

const flowSchema = z.object({
  providerId: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  /** The person must authenticate again. */
  isAgain: z.boolean(),
  expiresAtMs: z.number(),
});

/** A sign-in on its way to the issuer and back, known to one browser only. */
export type SignInFlow = z.infer<typeof flowSchema>;

export const endOfFlow = (nowMs: number): number => nowMs + LIFETIME_S * 1000;

/** `Set-Cookie`. Lax: the issuer's page leads back here, which Strict would hide. */
export function writeFlow(vault: SecretVault, flow: SignInFlow): string {
  const { keyId, bytes } = vault.seal(JSON.stringify(flow), PLACE);
  const value = `${keyId}.${Buffer.from(bytes).toString('base64url')}`;
  return cookie(value, LIFETIME_S, flow.redirectUri.startsWith('https:'));
}

export const clearFlow = (): string => cookie('', 0, false);

/** undefined without one, for one of another gateway or a changed one, and after ten minutes. */
export function readFlow(vault: SecretVault, header: string | undefined, nowMs: number): SignInFlow | undefined {
  const found = new RegExp(`(?:^|;\\s*)${NAME}=([\\w-]+)\\.([\\w-]+)(?:;|$)`).exec(header ?? '');
  const [, keyId, text] = found ?? [];
  if (keyId === undefined || text === undefined) return undefined;
  try {
    const flow = flowSchema.parse(JSON.parse(vault.open({ keyId, bytes: Buffer.from(text, 'base64url') }, PLACE)));
    return flow.expiresAtMs > nowMs ? flow : undefined;
  } catch {
    return undefined;
  }
}

function cookie(value: string, maxAgeS: number, isSecure: boolean): string {
  const attributes = ['Path=/auth', 'HttpOnly', 'SameSite=Lax', `Max-Age=${maxAgeS}`];
  return [`${NAME}=${value}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/** A path of this gateway; anything else leads to the start page. */
export function safePath(given: string | undefined): string {
  const base = 'http://gateway.invalid';
  if (given === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given) || given.includes('\\')) return '/';
  if (!URL.canParse(given, base)) return '/';
  const { origin, pathname, search, hash } = new URL(given, base);
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
}
