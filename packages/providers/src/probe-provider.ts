// An unreachable provider is a result of the probe, not its failure: it always returns an outcome.
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Provider } from './provider';
import type { ProviderConnection } from './provider-request';
import { boundedText } from './transport/bounded-fetch';
import { callProvider, type ProviderCall, upstreamFailure } from './transport/call-provider';
import { hideSecrets } from './transport/hide-secrets';

export interface Probe {
  readonly provider: Provider;
  readonly connection: ProviderConnection;
  /** Model for a one-word request; without it the test lists models, for free. */
  readonly model?: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  /** More bytes than this are no answer. */
  readonly maxAnswerBytes: number;
}

export interface ProbeOutcome {
  readonly check: 'models' | 'chat';
  /** Failure; absent after a valid answer. */
  readonly error?: GatewayError;
  readonly latencyMs: number;
  /** Status it answered with, when it answered. */
  readonly status?: number;
}

const MAX_OUTPUT_TOKENS = 16;

/** Asks the provider one real thing. */
export async function probeProvider(probe: Probe): Promise<ProbeOutcome> {
  const check = probe.model === undefined ? 'models' : 'chat';
  const startMs = performance.now();
  try {
    const status = probe.model === undefined ? await askForModels(probe) : await sayWord(probe, probe.model);
    return { check, latencyMs: performance.now() - startMs, status };
  } catch (cause) {
    const broken = 'could not be reached or broke off its answer.';
    const error =
      cause instanceof GatewayError ? cause : upstreamFailure('connection', probe.provider.name, broken, cause);
    return { check, error, latencyMs: performance.now() - startMs, status: error.upstreamStatus };
  }
}

async function askForModels({ provider, connection, fetch, timeoutMs }: Probe): Promise<number> {
  const target = provider.probeUrl?.(connection);
  if (target === undefined) {
    const message = `${provider.name} can only be tested with a model: name one that the account may call.`;
    throw invalidRequest('model', message);
  }
  const response = await fetch(target.url, {
    headers: target.headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const body = await boundedText(response);
  if (!response.ok) throw provider.decodeError(response.status, response.headers, hideSecrets(body, connection));
  return response.status;
}

async function sayWord(probe: Probe, model: string): Promise<number> {
  const request: ChatRequest = {
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Say: ok' }] }],
    stream: false,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    extra: {},
  };
  const call: ProviderCall = {
    provider: probe.provider,
    request,
    context: { connection: probe.connection, model, dropParams: true },
    timeoutMs: probe.timeoutMs,
    idleTimeoutMs: probe.timeoutMs,
    maxAnswerBytes: probe.maxAnswerBytes,
    signal: new AbortController().signal,
    fetch: probe.fetch,
  };
  const answer = await callProvider(call);
  for await (const _ of answer.events);
  return answer.status;
}
