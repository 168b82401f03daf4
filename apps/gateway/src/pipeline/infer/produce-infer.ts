// A stored answer replaces a failed backend's, if its headers allow it.
import { inTime } from '@llm0/core/async/in-time';
import { untilGone } from '@llm0/core/async/until-gone';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CachePlace, Look } from '@llm0/core/http-cache/http-cache';
import { type LeadFlight, NOBODY_FOLLOWS } from '@llm0/core/http-cache/http-flights';
import type { StoredAnswer } from '@llm0/core/http-cache/stored-answer';
import { validationFields } from '@llm0/core/http-cache/use-answer';
import type { Services } from '../../services/contract';
import { type AskedAnswer, askBackend } from './ask-backend';
import { type FieldTable, redirectPath, responseFields } from './forward-headers';
import { type InferCall, type KeptAnswer, type PassedAnswer, type Produced, timesOf } from './infer-call';
import { cacheAsk } from './plan-infer';
import { refreshAnswer } from './refresh-answer';

type Miss = Extract<Look, { type: 'miss' }>;

/** Statuses that allow a stale answer: https://www.rfc-editor.org/rfc/rfc5861#section-4 */
const FAILED: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Answer from the cache, an identical request or the backend. Throws one `GatewayError`. */
export async function produceInfer(services: Services, call: InferCall): Promise<Produced> {
  const { admission, job } = call;
  const { plan, stored } = admission;
  const { cache, flights } = services.backends;
  if (stored !== undefined) {
    if (stored.isStale) refreshAnswer(services, { plan, job, place: stored.place, known: stored.answer });
    return kept(stored.answer, { outcome: stored.isStale ? 'stale' : 'hit', isFree: true });
  }
  const { look } = plan;
  if (look.type !== 'miss') return passOn(services, call, { asked: await ask(services, call, plan.fields) });
  const { place } = look;
  if (place.control.has('only-if-cached')) throw notCached();
  if (job.method !== 'GET') return passOn(services, call, { asked: await ask(services, call, plan.fields) });
  const others = cache.mayShareFlight(place) ? flights.follow(cache.flightOf(place)) : undefined;
  const followed = others && (await follow(services, call, { place, others }));
  if (followed !== undefined) return kept(followed, { outcome: 'hit', isFree: true });
  const lead = cache.mayShareFlight(place) ? flights.lead(cache.flightOf(place)) : NOBODY_FOLLOWS;
  try {
    return await fetchAnew(services, call, { look, lead });
  } catch (error) {
    lead.end();
    throw error;
  }
}

const kept = (
  answer: StoredAnswer,
  rest: Pick<KeptAnswer, 'outcome' | 'isFree'> & Partial<KeptAnswer>,
): KeptAnswer => ({
  ...{ waitMs: 0, ...rest },
  ...{ type: 'kept', answer },
});

const notCached = () =>
  new GatewayError('not_cached', 'The cache has no usable answer, and the request accepts no other (only-if-cached).');

interface Following {
  readonly place: CachePlace;
  readonly others: Promise<StoredAnswer | undefined>;
}

/** Answer of another caller's request; undefined if unusable or too slow. */
async function follow(
  { backends: { cache } }: Services,
  { admission, request }: InferCall,
  { place, others }: Following,
): Promise<StoredAnswer | undefined> {
  const { timeoutMs } = admission.plan.backend;
  const answer = await untilGone(
    inTime(others, timeoutMs, () => undefined),
    request.signal,
  );
  if (answer === undefined) return undefined;
  const look = cache.look(place.ask);
  // The `Vary` fields may have arrived with this answer.
  if (look.type === 'off' || look.place.key !== place.key) return look.type === 'hit' ? look.answer : undefined;
  const judged = cache.judge(place, answer);
  return judged.type === 'hit' ? judged.answer : undefined;
}

interface Fetching {
  readonly look: Miss;
  readonly lead: LeadFlight;
}

async function fetchAnew(services: Services, call: InferCall, { look, lead }: Fetching): Promise<Produced> {
  const { place, known } = look;
  const { cache } = services.backends;
  const { fields } = call.admission.plan;
  const standIn = known !== undefined && cache.mayStandIn(place, known) ? known : undefined;
  const validation = known === undefined ? {} : validationFields(known);
  const isValidation = Object.keys(validation).length > 0;
  const asked = await ask(services, call, isValidation ? { ...unconditional(fields), ...validation } : fields).catch(
    (error: unknown) => {
      if (standIn === undefined || !(error instanceof GatewayError) || error.kind === 'client_closed') throw error;
      return undefined;
    },
  );
  if (standIn !== undefined && (asked === undefined || FAILED.has(asked.response.status))) {
    void asked?.response.body?.cancel().catch(() => {});
    lead.end(standIn);
    return kept(standIn, { outcome: 'stale', isFree: true });
  }
  if (asked === undefined) throw new GatewayError('upstream_error', 'The backend gave no answer.');
  if (known === undefined || !isValidation || asked.response.status !== 304) {
    return passOn(services, call, { asked, place, lead });
  }
  const headers = responseFields(asked.response.headers).fields;
  const renewed = cache.renew(place, known, { headers, times: timesOf(asked, services.clock.nowMs()) });
  if (renewed === undefined) {
    const again = await ask(services, call, unconditional(fields));
    return passOn(services, call, { asked: again, place, lead });
  }
  lead.end(renewed.answer);
  return kept(renewed.answer, { outcome: 'miss', isFree: false, waitMs: asked.waitMs, write: renewed.write });
}

/** Without the caller's own conditions: the whole answer is wanted, and judged here. */
function unconditional({ 'if-none-match': _tags, 'if-modified-since': _since, ...fields }: FieldTable): FieldTable {
  return fields;
}

function ask(services: Services, call: InferCall, fields: FieldTable): Promise<AskedAnswer> {
  const { admission, job, request, body, meter, ctx } = call;
  const { backend } = admission.plan;
  const { signal } = request;
  const sent = body?.length === undefined ? fields : { ...fields, 'content-length': body.length };
  return askBackend(services, {
    ...{ backend, job, fields: sent, stream: body?.stream, signal },
    ...{ startMs: ctx.startMs, note: meter, trace: ctx.trace },
    // Invalidates even if the body fails or the caller disconnects.
    onStatus: SAFE.has(job.method) ? undefined : (status) => invalidate(services, call, status),
  });
}

interface Passing {
  readonly asked: AskedAnswer;
  readonly place?: CachePlace;
  readonly lead?: LeadFlight;
}

function passOn(services: Services, call: InferCall, { asked, place, lead = NOBODY_FOLLOWS }: Passing): PassedAnswer {
  const { backend } = call.admission.plan;
  const { status, headers } = asked.response;
  const { fields, setsCookie } = responseFields(headers);
  if (fields.location !== undefined) fields.location = redirectPath(fields.location, backend, call.job.path);
  const { cache } = services.backends;
  const head = { status, headers: setsCookie ? { ...fields, 'set-cookie': '' } : fields };
  const described = place && cache.describe(place, head, timesOf(asked, services.clock.nowMs()));
  if (described === undefined) lead.end();
  const keeping = place && described && { place, described: { ...described, headers: fields } };
  return { type: 'passed', asked, fields, lead, keeping };
}

/** Invalidates entries after an unsafe request. Source: https://www.rfc-editor.org/rfc/rfc9111#section-4.4 */
function invalidate(services: Services, { admission, job }: InferCall, status: number): void {
  const { plan, principal } = admission;
  if (status >= 400 || !plan.backend.cache.enabled) return;
  const projectId = principal.project.id;
  const of = cacheAsk(services.config, { job, backend: plan.backend, projectId, fields: plan.fields, isNamed: false });
  services.backends.forget(of);
}
