// A stream passes in the vendor's bytes; if it breaks, the caller gets an error event, and the row what was certainly billed.
import type { CachedTask } from '@llm0/core/cache/cached-task';
import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { JsonObject } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { isLongJson, stringifyJsonInSlices } from '@llm0/core/chat/write-json-in-slices';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskStream } from '@llm0/providers/transport/call-task';
import type { TaskDialect, TaskSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { givenBodies } from '../metering/logged-bodies';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { asGatewayError } from '../request/respond-error';
import { addCostHeaders, type HeaderTable, responseHeaders } from '../request/response-headers';
import { SHORT_BYTES, takenStream, takenWhole } from '../request/taken-stream';
import type { TaskResponse } from './ask-target';
import { LoggedStream, loggedAnswer, loggedRequest } from './logged-task';
import type { TaskPlan } from './plan-task';
import type { TaskMeter } from './task-meter';

export interface ServedTask<R extends TaskRequest, A extends JsonObject> {
  readonly dialect: TaskDialect<R, A>;
  readonly ctx: RequestContext;
  readonly admission: Admission<TaskPlan<R>, CachedTask<A>>;
  readonly meter: TaskMeter<R, A>;
  readonly httpRequest: Request;
  readonly claim: IdempotencyClaim<CachedTask>;
}

/** Where the answer came from, for its headers. */
export type TaskSource = Parameters<typeof responseHeaders>[2];

export interface WholeTask<A> {
  readonly answer: A;
  readonly summary: TaskSummary;
  readonly source: TaskSource;
  /** For replays; absent for what is one. */
  readonly kept?: CachedTask | undefined;
}

type Needs = Pick<Services, 'bodyLog' | 'readers' | 'log'>;

/** Sends a whole answer, as JSON or as the events of a stream. */
export async function respondWhole<R extends TaskRequest, A extends JsonObject>(
  services: Needs,
  served: ServedTask<R, A>,
  { answer, summary, source, kept }: WholeTask<A>,
): Promise<Response> {
  const { dialect, ctx, admission, meter, httpRequest, claim } = served;
  const { request } = admission.plan;
  const headers = headersOf(served, source, summary.latencyMs);
  addCostHeaders(headers, summary);
  const events = request.stream ? dialect.encodeEvents?.(answer, summary) : undefined;
  const bytes = events === undefined ? dialect.encodeBytes?.(answer) : undefined;
  headers['Content-Type'] = bytes?.type ?? (events === undefined ? 'application/json' : EVENT_STREAM);
  const json = dialect.encodeResponse(answer, summary);
  const isLong = isLongJson(json);
  const body =
    bytes?.body ?? (events === undefined ? await encodeJson(json, isLong) : await encodeEvents(events, isLong));
  services.bodyLog.keep(() => givenBodies(served, loggedRequest(request), loggedAnswer(json, bytes)));
  const stored = kept && claim.complete(() => kept);
  if (stored !== undefined) await stored;
  if (meter.handedOver !== undefined) await meter.handedOver;
  const by = { readers: services.readers, request: httpRequest, held: ctx.held, key: admission.principal.key.id };
  return new Response(await takenWhole(by, body), { headers });
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const encodeJson = (value: JsonObject, isLong: boolean): Promise<Blob> | string =>
  isLong ? stringifyJsonInSlices(value) : JSON.stringify(value);

async function encodeEvents(events: readonly JsonObject[], isLong: boolean): Promise<Blob> {
  const parts: (string | Blob)[] = [];
  for (const event of events) parts.push(`event: ${event.type}\ndata: `, await encodeJson(event, isLong), '\n\n');
  return new Blob(parts);
}

export interface StreamedTask<A> {
  readonly response: TaskResponse<A>;
  readonly stream: TaskStream;
  /** Usage for what the stream leaves out. */
  readonly guess: () => Usage;
  /** Called once the last byte went out or the caller left. */
  readonly onEnd: () => void;
}

/** Passes a stream on. Settles before its last bytes go out. */
export async function respondStream<R extends TaskRequest, A extends JsonObject>(
  services: Needs,
  served: ServedTask<R, A>,
  { response, stream, guess, onEnd }: StreamedTask<A>,
): Promise<Response> {
  const { ctx, admission, meter, httpRequest, dialect } = served;
  const { target, dropped, failoverCount, firstWaitMs, attempts } = response;
  const overheadMs = meter.markFirstOutput(firstWaitMs);
  const headers = headersOf(served, { target, cache: 'miss', dropped, failoverCount, attempts }, overheadMs);
  const type = stream.reader.type ?? EVENT_STREAM;
  headers['Content-Type'] = type;
  headers['Cache-Control'] = 'no-cache';
  const logged =
    services.bodyLog.isOff === true ? undefined : new LoggedStream(type, soundTypeOf(admission.plan.request));
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    stream.close();
    if (logged !== undefined) keepStream(services, served, logged);
    onEnd();
  };
  let isSettled = false;
  const settle = async () => {
    if (isSettled) return;
    isSettled = true;
    meter.complete({ usage: stream.reader.usage, guess, effort: response });
    if (meter.handedOver !== undefined) await meter.handedOver;
  };
  const next = async (): Promise<Uint8Array | undefined> => {
    if (isOver) return undefined;
    try {
      const bytes = await stream.next();
      if (bytes !== undefined) logged?.push(bytes);
      if (bytes === undefined || stream.isAll()) await settle();
      if (bytes === undefined) end();
      return bytes;
    } catch (cause) {
      const error = asGatewayError(cause, services.log, ctx);
      meter.fail(error);
      end();
      // Bytes that break off can't say so but by their end.
      if (error.kind === 'client_closed' || type !== EVENT_STREAM) throw error;
      if (meter.handedOver !== undefined) await meter.handedOver;
      return Buffer.from(`event: error\ndata: ${withType(dialect.encodeError(error, ctx.requestId))}\n\n`);
    }
  };
  const by = { readers: services.readers, request: httpRequest, key: admission.principal.key.id, ahead: ctx.held };
  const onGone = () => {
    meter.abort();
    end();
  };
  const first = await next();
  if (first === undefined || first.byteLength > SHORT_BYTES || type === EVENT_STREAM || !stream.isAll()) {
    return new Response(takenStream(by, { next, onGone }, first), { headers });
  }
  // Nothing is missing but the end of the vendor's answer, after which its connection serves the next one.
  void drain(next);
  return new Response(first as Uint8Array<ArrayBuffer>, { headers });
}

const keepStream = <R extends TaskRequest, A extends JsonObject>(
  { bodyLog }: Pick<Services, 'bodyLog'>,
  served: ServedTask<R, A>,
  logged: LoggedStream,
) => bodyLog.keep(() => givenBodies(served, loggedRequest(served.admission.plan.request), logged.answer()));

/** Of events with sound, which don't say. */
const soundTypeOf = ({ format }: TaskRequest & { readonly format?: unknown }): string =>
  `audio/${typeof format === 'string' && format !== 'mp3' ? format : 'mpeg'}`;

async function drain(next: () => Promise<Uint8Array | undefined>): Promise<void> {
  try {
    while ((await next()) !== undefined);
  } catch {
    // It was settled before.
  }
}

/** Clients tell events by their type. */
const withType = (json: string) => JSON.stringify({ type: 'error', ...(JSON.parse(json) as JsonObject) });

function headersOf<R extends TaskRequest, A extends JsonObject>(
  { ctx, admission }: ServedTask<R, A>,
  source: TaskSource,
  overheadMs: number,
): HeaderTable {
  return responseHeaders(ctx, admission, source, overheadMs);
}
