// If the backend breaks off, so does the answer, and nothing is stored. If the caller disconnects, the backend is
// cancelled.
import { backendProvider } from '@llm0/core/backends/backend';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CacheOutcome } from '@llm0/core/http-cache/http-cache';
import { fieldsOf, isKnownToCaller } from '@llm0/core/http-cache/use-answer';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import { UpstreamBody } from '@llm0/providers/transport/call-backend';
import type { Services } from '../../services/contract';
import { addDecisionHeaders, type HeaderTable } from '../request/response-headers';
import { begunStream, takenWhole } from '../request/taken-stream';
import type { InferCall, KeptAnswer, PassedAnswer, Produced } from './infer-call';
import { ReadAhead } from './read-ahead';

type Needs = Pick<Services, 'config' | 'backends' | 'clock' | 'metrics' | 'hotStore' | 'readers'>;

/** The answer as the caller gets it. `onEnd`: once its last byte went out or the caller left. */
export function respondInfer(
  services: Needs,
  call: InferCall,
  { produced, onEnd }: { readonly produced: Produced; readonly onEnd: () => void },
): Promise<Response> {
  return produced.type === 'kept'
    ? respondKept(services, call, { kept: produced, onEnd })
    : respondPassed(services, call, { passed: produced, onEnd });
}

async function respondKept(
  services: Needs,
  call: InferCall,
  { kept, onEnd }: { readonly kept: KeptAnswer; readonly onEnd: () => void },
): Promise<Response> {
  const { meter, job, request } = call;
  const { answer, outcome, isFree, waitMs, write } = kept;
  const isNotModified = isKnownToCaller(answer, request.headers);
  const status = isNotModified ? 304 : answer.status;
  const headers = fieldsOf(answer, services.clock.nowMs(), isNotModified);
  if (!isFree) meter.noteAnswer(waitMs);
  addOwn(services, call, { headers, outcome });
  if (isFree) meter.completeHit(status);
  else meter.complete(status, write);
  await meter.handedOver;
  onEnd();
  const isBodiless = isNotModified || job.method === 'HEAD' || answer.status === 204;
  if (job.method === 'HEAD' && !isNotModified) headers['content-length'] = String(answer.body.byteLength);
  else delete headers['content-length'];
  const body = isBodiless ? null : await takenWhole(byOf(services, call), answer.body);
  return new Response(body, { status, headers });
}

async function respondPassed(
  services: Needs,
  call: InferCall,
  { passed, onEnd }: { readonly passed: PassedAnswer; readonly onEnd: () => void },
): Promise<Response> {
  const { meter, job } = call;
  const { asked, fields, lead } = passed;
  const { response, bytes, waitMs } = asked;
  const { status } = response;
  const headers: HeaderTable = { ...fields };
  meter.noteAnswer(waitMs);
  const isLooked = call.admission.plan.look.type !== 'off';
  addOwn(services, call, { headers, outcome: isLooked ? 'miss' : undefined });
  const declared = Number(fields['content-length'] ?? 0);
  if (job.method !== 'HEAD') {
    // A body that is read here has the length that it turns out to have.
    delete headers['content-length'];
    if (declared > services.config.maxResponseBytes) {
      lead.end();
      void response.body?.cancel().catch(() => {});
      throw new GatewayError('upstream_error', 'The backend sent an answer larger than MAX_RESPONSE_BYTES.', {
        failure: 'malformed',
      });
    }
  }
  const whole = bytes ?? (response.body === null ? EMPTY : undefined);
  if (whole === undefined) return new Response(await tapped(services, call, { passed, onEnd }), { status, headers });
  meter.complete(status, keepWhole(services, passed, whole));
  await meter.handedOver;
  onEnd();
  const isBodiless = job.method === 'HEAD' || whole.byteLength === 0;
  const body = isBodiless ? null : await takenWhole(byOf(services, call), whole);
  return new Response(body, { status, headers });
}

const byOf = ({ readers }: Needs, { request, admission, ctx }: InferCall) => {
  return { readers, request, held: ctx.held, key: admission.principal.key.id };
};

const EMPTY = new Uint8Array(0);

/** Stores a cacheable answer for waiting and later requests. */
function keepWhole({ backends }: Needs, { keeping, lead }: PassedAnswer, body: Uint8Array): CacheWrite | undefined {
  if (keeping === undefined) return undefined;
  const write = backends.cache.keep(keeping.place, keeping.described, body);
  lead.end({ ...keeping.described, body });
  return write;
}

interface Own {
  readonly headers: HeaderTable;
  /** Absent where no cache had a part in it. */
  readonly outcome: CacheOutcome | undefined;
}

function addOwn({ backends, metrics }: Needs, { ctx, admission, meter }: InferCall, { headers, outcome }: Own): void {
  const { name } = admission.plan.backend;
  headers['X-Request-Id'] = ctx.requestId;
  headers['X-Provider'] = backendProvider(name);
  headers['X-Overhead-Ms'] = meter.noteFirst().toFixed(2);
  if (outcome !== undefined) {
    headers['X-Cache'] = outcome.toUpperCase();
    backends.cache.count(outcome);
    metrics.inferCache.inc({ backend: name, outcome });
  }
  addDecisionHeaders(headers, admission);
}

/** Bytes at the reader's pace. */
function tapped(
  services: Needs,
  call: InferCall,
  { passed, onEnd }: { readonly passed: PassedAnswer; readonly onEnd: () => void },
): Promise<ReadableStream<Uint8Array>> {
  const { meter, request, admission } = call;
  const { response } = passed.asked;
  const body = new UpstreamBody(response.body, {
    ...{ provider: admission.plan.backend.name, signal: request.signal },
    idleTimeoutMs: services.config.streamIdleTimeoutMs,
    // Downloads and endless streams: only idle ones are cut. The server itself ends unread connections.
    maxMs: Number.POSITIVE_INFINITY,
    maxBytes: services.config.maxResponseBytes,
    room: call.ctx.held,
  });
  const source = passed.keeping === undefined ? body : copied(services, call, { passed, body });
  const end = () => {
    passed.lead.end();
    body.close();
    onEnd();
  };
  let isOver = false;
  const by = { readers: services.readers, request, key: admission.principal.key.id, ahead: call.ctx.held };
  return begunStream(by, {
    async next() {
      if (isOver) return undefined;
      try {
        const chunk = await source.readChunk();
        if (chunk !== undefined) return chunk;
        isOver = true;
        meter.complete(response.status);
        await meter.handedOver;
        end();
        return undefined;
      } catch (error) {
        if (error instanceof GatewayError && error.kind !== 'client_closed') meter.fail(error);
        else meter.abort();
        end();
        throw error;
      }
    },
    onGone() {
      if (!isOver) meter.abort();
      end();
    },
  });
}

/** Stores a copy once complete. */
function copied(
  services: Needs,
  { admission, ctx }: InferCall,
  { passed, body }: { readonly passed: PassedAnswer; readonly body: UpstreamBody },
): ReadAhead {
  return new ReadAhead(body, {
    hasRoom: (bytes) => ctx.held.tryTake(bytes),
    maxBytes: services.backends.cache.options.maxEntryBytes,
    onTooLong: () => passed.lead.end(),
    onWhole: (bytes) => {
      const write = keepWhole(services, passed, bytes);
      if (write !== undefined) services.hotStore.cacheWrite(admission.principal.project.id, write);
    },
  });
}
