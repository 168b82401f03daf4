// The next request retries a failed refresh. The stale answer serves until its limit.
import type { CachePlace } from '@llm0/core/http-cache/http-cache';
import type { StoredAnswer } from '@llm0/core/http-cache/stored-answer';
import { validationFields } from '@llm0/core/http-cache/use-answer';
import { UpstreamBody } from '@llm0/providers/transport/call-backend';
import type { Services } from '../../services/contract';
import { askBackend } from './ask-backend';
import { redirectPath, responseFields } from './forward-headers';
import { timesOf } from './infer-call';
import type { InferJob, InferPlan } from './plan-infer';

export interface StaleAnswer {
  readonly plan: InferPlan;
  readonly job: InferJob;
  readonly place: CachePlace;
  readonly known: StoredAnswer;
}

/** Refreshes a stale answer in the background, free of charge. */
export function refreshAnswer(services: Services, stale: StaleAnswer): void {
  const { cache, flights } = services.backends;
  const lead = flights.leadInBackground(cache.flightOf(stale.place));
  if (lead === undefined) return;
  refresh(services, stale).then(lead.end, (error: unknown) => {
    services.log.debug({ err: error, backend: stale.plan.backend.name }, "a stale answer couldn't be refreshed");
    lead.end();
  });
}

async function refresh(
  services: Services,
  { plan, job, place, known }: StaleAnswer,
): Promise<StoredAnswer | undefined> {
  const { backend } = plan;
  const { cache } = services.backends;
  const { 'if-none-match': _tags, 'if-modified-since': _since, ...rest } = plan.fields;
  const fields = { ...rest, ...validationFields(known) };
  const signal = AbortSignal.timeout(2 * backend.timeoutMs);
  const startMs = services.clock.monotonicMs();
  const asked = await askBackend(services, { backend, job: { ...job, method: 'GET' }, fields, signal, startMs });
  const times = timesOf(asked, services.clock.nowMs());
  const { fields: headers, setsCookie } = responseFields(asked.response.headers);
  const { status } = asked.response;
  const { projectId } = place.ask;
  if (status === 304) {
    const renewed = cache.renew(place, known, { headers, times });
    if (renewed?.write !== undefined) services.hotStore.cacheWrite(projectId, renewed.write);
    return renewed?.answer;
  }
  if (headers.location !== undefined) headers.location = redirectPath(headers.location, backend, job.path);
  const head = { status, headers: setsCookie ? { ...headers, 'set-cookie': '' } : headers };
  const described = status < 500 ? cache.describe(place, head, times) : undefined;
  if (described === undefined) {
    void asked.response.body?.cancel().catch(() => {});
    return undefined;
  }
  const answer = { ...described, headers };
  const body = asked.bytes ?? (await readWhole(services, { asked: asked.response, name: backend.name, signal }));
  const write = cache.keep(place, answer, body);
  if (write !== undefined) services.hotStore.cacheWrite(projectId, write);
  return { ...answer, body };
}

interface Reading {
  readonly asked: Response;
  readonly name: string;
  readonly signal: AbortSignal;
}

async function readWhole({ backends, config }: Services, { asked, name, signal }: Reading): Promise<Uint8Array> {
  const body = new UpstreamBody(asked.body, {
    ...{ provider: name, idleTimeoutMs: config.streamIdleTimeoutMs, signal },
    maxBytes: backends.cache.options.maxEntryBytes,
  });
  const chunks: Uint8Array[] = [];
  try {
    for (let chunk = await body.readChunk(); chunk !== undefined; chunk = await body.readChunk()) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    body.close();
  }
}
