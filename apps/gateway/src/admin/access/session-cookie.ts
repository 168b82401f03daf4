import { hashSecret } from '@llm0/core/keys/api-key';

const NAME = 'llm0_session';
const SECRET_BYTES = 32;
/** Lifetime of a session, however it began. */
export const SESSION_SECONDS = 24 * 3600;

/** 256 random bits for the cookie; the store has only the SHA-256. */
export function createSessionSecret(): { readonly secret: string; readonly hash: string } {
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('hex');
  return { secret, hash: hashSecret(secret) };
}

/** The hash of the session a request brings; undefined without one. */
export function readSessionCookie(header: string | undefined): { readonly hash: string } | undefined {
  const secret = new RegExp(`(?:^|;\\s*)${NAME}=([0-9a-f]{${SECRET_BYTES * 2}})(?:;|$)`).exec(header ?? '')?.[1];
  return secret === undefined ? undefined : { hash: hashSecret(secret) };
}

/** `Set-Cookie`: no script sees it, no other site sends it, only the path's pages get it. Age 0 takes it away. */
export function writeSessionCookie(
  request: Request,
  secret: string,
  maxAgeSeconds: number,
  path: '/admin' | '/auth' = '/admin',
): string {
  const isSecure = request.url.startsWith('https:') || request.headers.get('x-forwarded-proto') === 'https';
  const attributes = [`Path=${path}`, 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeSeconds}`];
  return [`${NAME}=${secret}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ');
}
