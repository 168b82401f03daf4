// A backend that does not answer a probe is shown so; the gateway itself is none the worse for it.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { callBackend } from '@llm0/providers/transport/call-backend';
import type { BackendProbe, ConnectedBackend } from './parts';

export interface ProbeOptions {
  readonly list: () => readonly ConnectedBackend[];
  readonly monotonicMs: () => number;
}

const KEPT_MS = 5000;
const TIMEOUT_MS = 1000;
const MAX_PARALLEL = 16;
const PATH = '/healthz';

/** Asks backends whether they are there: at most once in five seconds, however many ask. */
export class ProbedBackends {
  private last: Promise<ReadonlyMap<string, BackendProbe>> | undefined;
  private untilMs = 0;

  constructor(private readonly options: ProbeOptions) {}

  probeAll(): Promise<ReadonlyMap<string, BackendProbe>> {
    const nowMs = this.options.monotonicMs();
    if (this.last === undefined || nowMs > this.untilMs) {
      this.untilMs = nowMs + KEPT_MS;
      this.last = this.ask();
    }
    return this.last;
  }

  private async ask(): Promise<ReadonlyMap<string, BackendProbe>> {
    const queue = this.options.list().filter(({ isActive }) => isActive);
    const found = new Map<string, BackendProbe>(queue.map(({ name }) => [name, NOT_ASKED]));
    const stop = AbortSignal.timeout(TIMEOUT_MS);
    const work = async () => {
      for (let one = queue.shift(); one !== undefined && !stop.aborted; one = queue.shift()) {
        found.set(one.name, await probeBackend(one, { signal: stop, timeoutMs: TIMEOUT_MS, path: PATH }));
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
    return found;
  }
}

const NOT_ASKED: BackendProbe = { ok: false, detail: `not asked within ${TIMEOUT_MS} ms` };

export interface ProbeCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly path: string;
}

/** Any status below 500 means reachable. Never throws. */
export async function probeBackend(
  backend: ConnectedBackend,
  { signal, timeoutMs, path }: ProbeCall,
): Promise<BackendProbe & { readonly status?: number }> {
  if (backend.isUnreadable) return { ok: false, detail: 'its headers were sealed with another ENCRYPTION_KEY' };
  const startedMs = performance.now();
  try {
    const { response } = await callBackend({
      ...{ backend: backend.name, method: 'GET', url: `${backend.url}${path}`, fetch: backend.fetch },
      ...{ headers: { ...backend.headers, accept: '*/*' }, timeoutMs, signal },
    });
    void response.body?.cancel().catch(() => {});
    const { status } = response;
    const latencyMs = performance.now() - startedMs;
    return { ok: status < 500, status, latencyMs, ...(status < 500 ? {} : { detail: `answered with ${status}` }) };
  } catch (error) {
    const isLate = signal.aborted;
    const said = error instanceof GatewayError && !isLate ? error.message : `no answer within ${timeoutMs} ms`;
    return { ok: false, detail: said };
  }
}
