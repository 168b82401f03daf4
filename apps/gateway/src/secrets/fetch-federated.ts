import { readFile } from 'node:fs/promises';
import type { FetchedSecret } from './secret-reference';

/** How an identity token becomes a vendor's short-lived access token: a POST of RFC 7523 or RFC 8693. */
export interface Federation {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** File with the identity token, and its setting for messages. */
  readonly tokenFile: string;
  readonly fileSetting: string;
  /** Field of the body with the token; `body` has all others. */
  readonly tokenField: string;
  readonly body: Readonly<Record<string, string>>;
  /** Settings that a refusal may be due to. */
  readonly settings: readonly string[];
}

/** An error of RFC 6749, or one of a vendor's API. */
interface Answer {
  readonly access_token?: unknown;
  /** Seconds. */
  readonly expires_in?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** A vendor's access token for the identity token in the file, which is read each time because the platform replaces it. */
export async function fetchFederated(
  { url, headers, tokenFile, fileSetting, tokenField, body, settings }: Federation,
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<FetchedSecret> {
  const token = await readToken(tokenFile, fileSetting);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, [tokenField]: token }),
    redirect: 'error',
    signal,
  });
  const answer = (await response.json().catch(() => ({}))) as Answer | null;
  if (!response.ok) {
    // An answer may quote what it was asked.
    const said = describe(answer).replaceAll(token, '***').slice(0, 200);
    throw new Error(`${url} answered ${response.status} to ${fileSetting}: ${said}. Check ${settings.join(', ')}`);
  }
  const { access_token: text, expires_in: seconds } = answer ?? {};
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) throw new Error(`${url} gave no access token`);
  return { text, ...(Number(seconds) > 0 && { expiresAtMs: Date.now() + Number(seconds) * 1000 }) };
}

async function readToken(path: string, setting: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting}=${path} cannot be read: ${error.code}`);
  });
  if (text.trim() === '') throw new Error(`${setting}=${path} is empty`);
  return text.trim();
}

function describe(answer: Answer | null): string {
  const { error, error_description: more } = answer ?? {};
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { readonly message?: unknown };
  return [error, message, more].filter((part) => typeof part === 'string').join(': ') || 'no reason';
}
