// An apply whose process dies ends by itself; the next one waits until then.
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import { type AdminClient, RequestFailed } from '../admin-client';

const CONFLICT = 409;
const NOT_FOUND = 404;
const RENEW_EVERY_MS = 4000;
const ASK_EVERY_MS = 500;
const MAX_WAIT_MS = 120_000;

export interface LeaseOptions {
  readonly applyName: string;
  readonly signal: AbortSignal;
  /** Says that another apply runs. */
  note(text: string): void;
}

/** A client whose changes belong to the apply. `checkOn` throws once they no longer may. */
export interface LeasedClient {
  readonly api: AdminClient;
  checkOn(): void;
}

/** Runs one apply at a time for the whole gateway: waits for another one, then for `work`. */
export async function withLease<T>(
  api: AdminClient,
  options: LeaseOptions,
  work: (client: LeasedClient) => Promise<T>,
): Promise<T> {
  const id = await takeLease(api, options);
  let isLost = false;
  const renew = async () => {
    try {
      await api.put(`/applies/${id}`, {});
    } catch (error) {
      // Anything else may pass; the gateway refuses changes without a lease.
      if (error instanceof RequestFailed && error.status === NOT_FOUND) isLost = true;
    }
  };
  const timer = setInterval(() => void renew(), RENEW_EVERY_MS);
  const checkOn = () => {
    if (options.signal.aborted) throw new RequestFailed('Interrupted.');
    if (isLost) throw new RequestFailed('This apply took too long to answer, and another one may run.');
  };
  try {
    return await work({ api: api.withHeaders({ 'X-LLM0-Apply': id }), checkOn });
  } finally {
    clearInterval(timer);
    // It ends by itself.
    await api.delete(`/applies/${id}`).catch(() => {});
  }
}

async function takeLease(api: AdminClient, { applyName, signal, note }: LeaseOptions): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
    try {
      const { body } = await api.post('/applies', { apply_name: applyName });
      return String(body.id);
    } catch (error) {
      const isBusy = error instanceof RequestFailed && error.status === CONFLICT;
      if (!isBusy || waitedMs >= MAX_WAIT_MS || signal.aborted) throw error;
      if (waitedMs === 0) note(`${error.message}\nWaiting for it.`);
    }
    await interruptibleSleep(ASK_EVERY_MS, signal);
  }
}
