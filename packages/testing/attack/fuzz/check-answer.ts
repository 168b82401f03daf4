import type { FuzzCase } from './make-case';

/** An answer, read to its end. */
export interface FuzzAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const REFUSED = 400;
/** Only what a vendor said badly may be told as a bad gateway. */
const VENDORS_FAULT = new Set([502, 503, 504]);
/** They tell that a store is slow, as on a busy machine. */
const HEALTH = /^\/(?:readyz|ready|health|healthz)\b/;

/** What is wrong with an answer; undefined when it is one that a client can rely on. */
export function checkAnswer(
  { method, vendor, path }: FuzzCase,
  { status, type, text }: FuzzAnswer,
): string | undefined {
  if (status === 500) return 'status 500';
  if (status < 200 || status > 599) return `status ${status}`;
  const mayFail = vendor === 'mutating';
  if (HEALTH.test(path) && status === 503) return undefined;
  // The operator's own address for a provider, which nobody resolves here.
  if (status === 503 && text.includes('"upstream_unavailable"') && path.startsWith('/admin/v1/providers'))
    return undefined;
  if (status >= 500 && !(mayFail && VENDORS_FAULT.has(status))) return `status ${status}`;
  if (method === 'HEAD' || method === 'OPTIONS') return undefined;
  if (!/^application\/(?:[\w.]+\+)?json\b/.test(type))
    return status >= REFUSED ? `status ${status} as ${type || 'nothing'}` : undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return path.startsWith('/passthrough') || vendor === 'mutating' ? undefined : `status ${status} with broken JSON`;
  }
  return status >= REFUSED && !isEnvelope(body) ? `status ${status} without an error's envelope` : undefined;
}

interface Told {
  readonly jsonrpc?: unknown;
  readonly error?: { readonly [field in 'message' | 'type' | 'code' | 'status']?: unknown };
}

/** OpenAI's and Anthropic's tell a type, Google's a status, those of MCP a number. */
function isEnvelope(body: unknown): boolean {
  const { error, jsonrpc } = (body ?? {}) as Told;
  if (typeof error?.message !== 'string' || error.message === '') return false;
  if (jsonrpc !== undefined) return jsonrpc === '2.0' && Number.isSafeInteger(error.code);
  return typeof error.type === 'string' || typeof error.status === 'string';
}
