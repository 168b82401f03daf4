import { setTimeout } from 'node:timers/promises';
import { clientClosed } from '@llm0/core/errors/gateway-error';

/** Waits; throws `client_closed` as soon as the caller leaves. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch((cause: unknown) => {
    throw clientClosed(cause);
  });
}
