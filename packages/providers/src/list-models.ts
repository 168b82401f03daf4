// An unreadable or oversized list throws, and callers keep the previous one.
import { isObject } from '@llm0/core/chat/json';
import { EVENT_BOUNDS, findJsonExcessInSlices } from '@llm0/core/chat/json-bounds';
import { parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import type { Provider } from './provider';
import type { ProviderConnection } from './provider-request';
import { boundedText } from './transport/bounded-fetch';

export interface ModelsQuestion {
  readonly provider: Provider;
  readonly connection: ProviderConnection;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
}

/** More than any server serves. */
const MAX_MODELS = 20_000;
const MAX_NAME_LENGTH = 512;

/** Models that a provider lists; undefined without a list. */
export async function listModels(question: ModelsQuestion): Promise<ReadonlySet<string> | undefined> {
  const { provider, connection, fetch, timeoutMs } = question;
  if (provider.modelsUrl === undefined || provider.decodeModels === undefined) return undefined;
  const { url, headers } = provider.modelsUrl(connection);
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await fetch(url, { headers, redirect: 'manual', signal });
  if (!answer.ok) {
    void answer.body?.cancel().catch(() => {});
    return undefined;
  }
  const text = await boundedText(answer);
  const excess = await findJsonExcessInSlices(text, EVENT_BOUNDS);
  if (excess !== undefined) throw new Error(`${provider.name} sent a list of models with too much in it (${excess}).`);
  const list = await parseJsonInSlices(text);
  if (!isObject(list)) return undefined;
  const names = provider.decodeModels(list).filter((name) => name.length <= MAX_NAME_LENGTH);
  return new Set(names.slice(0, MAX_MODELS));
}
