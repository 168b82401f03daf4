// If the vendor breaks off, so does the answer. If the caller disconnects, the vendor is cancelled and the output so
// far booked.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import { redactText } from '@llm0/core/logs/redact';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import {
  createUsageTap,
  hideSecrets,
  type PassthroughProvider,
  readStart,
  UpstreamBody,
  UsageEventFilter,
  type UsageTap,
} from '@llm0/providers/transport/call-passthrough';
import type { Services } from '../../services/contract';
import { judgeNativeFailure, withheldFailure } from '../guard/guard-failure';
import { judgeNativeAnswer, judgesAnswers } from '../guard/guard-native';
import type { Admission } from '../request/admit';
import { forwardedResponseHeaders } from '../request/forwarded-headers';
import type { RequestContext } from '../request/open-context';
import { addDecisionHeaders, type HeaderTable } from '../request/response-headers';
import { begunStream, takenWhole } from '../request/taken-stream';
import type { NativeMeter } from './native-meter';
import type { NativePlan } from './plan-passthrough';

export interface NativeResponse {
  readonly ctx: RequestContext;
  readonly admission: Admission<NativePlan, never>;
  readonly meter: NativeMeter;
  readonly response: Response;
  readonly provider: PassthroughProvider;
  readonly connection: ProviderConnection;
  readonly waitMs: number;
  /** Milliseconds left until its end; absent for streams and non-model answers. */
  readonly leftMs: number | undefined;
  /** Usage was asked for by the gateway alone. */
  readonly dropsUsage: boolean;
  /** Query parameters and headers that were left out. */
  readonly dropped: readonly string[];
  readonly httpRequest: Request;
  /** Ends the answer. */
  readonly signal: AbortSignal;
  /** Judges the answer, if there are rules. */
  readonly guard?: RequestGuard | undefined;
  /** Called once the last byte went out or the caller left. */
  readonly onEnd: () => void;
}

type Needs = Pick<Services, 'config' | 'readers'>;

const MAX_ERROR_BYTES = 256 * 1024;
const MAX_DROPPED_LENGTH = 1024;

/** The vendor's answer, byte by byte; error answers without the secrets they may repeat. */
export function respondNative(services: Needs, answer: NativeResponse): Promise<Response> | Response {
  const { response, meter, provider } = answer;
  const { signal } = answer;
  const headers = headersOf(answer);
  const body = new UpstreamBody(response.body, {
    provider: provider.name,
    idleTimeoutMs: services.config.streamIdleTimeoutMs,
    ...{ firstTimeoutMs: answer.leftMs, maxMs: answer.leftMs },
    room: answer.ctx.held,
    signal,
  });
  if (response.status >= 400) return respondFailure(answer, body, headers);
  if (response.body === null) return respondEmpty(answer, headers);
  const { reader } = meter;
  const tap = reader && createUsageTap(response.headers.get('content-type') ?? '', reader);
  if (judgesAnswers(answer.guard))
    return respondJudged(services, { ...answer, guard: answer.guard }, { body, tap, headers });
  return tapped(services, answer, { body, tap }).then(
    (stream) => new Response(stream, { status: response.status, headers }),
  );
}

interface Judged {
  readonly body: UpstreamBody;
  readonly tap: UsageTap | undefined;
  readonly headers: HeaderTable;
}

/** All of the answer, once it was judged. */
async function respondJudged(
  { readers }: Needs,
  answer: NativeResponse & { readonly guard: RequestGuard },
  { body, tap, headers }: Judged,
): Promise<Response> {
  const { response, meter, guard, dropsUsage, ctx, httpRequest, onEnd } = answer;
  const { held } = ctx;
  const type = response.headers.get('content-type') ?? '';
  const filter = dropsUsage && type.startsWith('text/event-stream') ? new UsageEventFilter() : undefined;
  const chunks: Uint8Array[] = [];
  try {
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      meter.noteBytes(chunk.byteLength);
      await held.takeAnswer(chunk.byteLength);
      await tap?.push(chunk);
      chunks.push(filter === undefined ? chunk : filter.push(chunk));
    }
    await tap?.end();
    const last = filter?.end();
    if (last !== undefined) chunks.push(last);
    const text = await judgeNativeAnswer(guard, new TextDecoder().decode(Buffer.concat(chunks)), type);
    meter.complete(response.status);
    await meter.handedOver;
    const by = { readers, request: httpRequest, held, key: answer.admission.principal.key.id };
    return new Response(await takenWhole(by, text), { status: response.status, headers });
  } finally {
    body.close();
    onEnd();
  }
}

function headersOf(answer: NativeResponse): HeaderTable {
  const { ctx, admission, meter, response, provider, waitMs } = answer;
  const overheadMs = meter.noteAnswer(waitMs);
  const headers: HeaderTable = {
    ...forwardedResponseHeaders(response.headers),
    'X-Request-Id': ctx.requestId,
    'X-Provider': provider.name,
    'X-Overhead-Ms': overheadMs.toFixed(2),
  };
  addDecisionHeaders(headers, admission);
  if (admission.plan.isUnpriced) headers['X-Warning'] ??= 'unpriced';
  if (answer.dropped.length > 0) headers['X-LLM0-Dropped'] = answer.dropped.join(',').slice(0, MAX_DROPPED_LENGTH);
  return headers;
}

async function respondEmpty({ response, meter, onEnd }: NativeResponse, headers: HeaderTable): Promise<Response> {
  meter.complete(response.status);
  await meter.handedOver;
  onEnd();
  return new Response(null, { status: response.status, headers });
}

/** A 401 is about the operator's key, which is no affair of the caller's. */
async function respondFailure(answer: NativeResponse, body: UpstreamBody, headers: HeaderTable): Promise<Response> {
  const { response, provider, connection, meter, guard, onEnd } = answer;
  try {
    const text = redactText(hideSecrets(await readStart(body, MAX_ERROR_BYTES), connection));
    if (response.status === 401) {
      const refused = provider.decodeError(response.status, response.headers, text);
      throw new GatewayError('upstream_error', refused.message, { failure: 'auth', upstreamStatus: 401 });
    }
    const passed = judgesAnswers(guard) ? await judgeNativeFailure(guard, text) : text;
    if (passed === undefined) throw withheldFailure(provider.name, response.status);
    meter.complete(response.status, text);
    await meter.handedOver;
    return new Response(passed, { status: response.status, headers });
  } finally {
    body.close();
    onEnd();
  }
}

function tapped(
  { readers }: Needs,
  answer: NativeResponse,
  { body, tap }: Omit<Judged, 'headers'>,
): Promise<ReadableStream<Uint8Array>> {
  const { meter, response, dropsUsage, httpRequest, onEnd } = answer;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const filter = dropsUsage && isStream ? new UsageEventFilter() : undefined;
  const end = () => {
    body.close();
    onEnd();
  };
  const next = async (): Promise<Uint8Array | undefined> => {
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      meter.noteBytes(chunk.byteLength);
      const reading = tap?.push(chunk);
      if (reading !== undefined) await reading;
      const bytes = filter === undefined ? chunk : filter.push(chunk);
      if (bytes.byteLength > 0) return bytes;
    }
    return undefined;
  };
  let isOver = false;
  const { ctx, admission } = answer;
  const by = { readers, request: httpRequest, key: admission.principal.key.id, ahead: ctx.held };
  return begunStream(by, {
    async next() {
      if (isOver) return undefined;
      try {
        const bytes = await next();
        if (bytes !== undefined) return bytes;
        isOver = true;
        await tap?.end();
        const last = filter?.end();
        meter.complete(response.status);
        await meter.handedOver;
        end();
        return last !== undefined && last.byteLength > 0 ? last : undefined;
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
