// The gateway does not answer, or with an error: an `ApiError` for the page to show. A session that is over: the sign-in
// dialog opens, and the request goes out again once signed in, so that nothing typed is lost.
import type { AdminClient } from '@llm0/gateway/admin/index';
import { hc } from 'hono/client';
import { askForSignIn, awaitSignIn, SIGN_IN_AGAIN } from './expired-session';

/** A refusal of the admin API, or of reaching it (status 0). */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    /** The field at fault. */
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

const SESSION_PATH = '/admin/v1/session';

/** Sends with the session's cookie; throws `ApiError` for anything but a 2xx answer. */
export async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await reach(input, init);
  if (response.ok) return response;
  const error = await readError(response);
  if (response.status === 401 && !String(input).includes(SESSION_PATH)) {
    await awaitSignIn();
    const again = await reach(input, init);
    if (again.ok) return again;
    throw await readError(again);
  }
  if (error.code === SIGN_IN_AGAIN) askForSignIn();
  throw error;
}

async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, { ...init, credentials: 'same-origin' });
  } catch {
    throw new ApiError('The gateway cannot be reached. Is it running?', 0, 'unreachable');
  }
}

async function readError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof error !== 'object' || error === null) {
    return new ApiError(`The gateway answered with status ${response.status}.`, response.status, 'unknown');
  }
  const { message, code, param } = error as { message?: unknown; code?: unknown; param?: unknown };
  return new ApiError(
    typeof message === 'string' ? message : `Status ${response.status}`,
    response.status,
    typeof code === 'string' ? code : 'unknown',
    typeof param === 'string' ? param : null,
  );
}

/** The admin API, typed by the gateway's own routes. */
export const api = hc('/admin/v1', { fetch: send }) as unknown as AdminClient;

/** The JSON of an answer. */
export async function read<T>(answer: Promise<{ json(): Promise<T> }>): Promise<T> {
  return (await answer).json();
}

/** Reads an answer; null for a 404. */
export async function readOrNull<T>(answer: Promise<{ json(): Promise<T> }>): Promise<T | null> {
  try {
    return await read(answer);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null;
    throw error;
  }
}
