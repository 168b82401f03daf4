// If the client disconnects, the server is cancelled and the call settled. If the server breaks off, the client gets a
// protocol error.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Reader } from '../../observe/readers';
import { asGatewayError } from '../../pipeline/request/respond-error';
import type { HeaderTable } from '../../pipeline/request/response-headers';
import { PIECE_BYTES, takenWhole } from '../../pipeline/request/taken-stream';
import type { Services } from '../../services/contract';
import type { CallBooking } from '../calls/call-booking';
import { notForThisClient } from '../upstream/http-answer';
import type { UpstreamAnswer, UpstreamPart } from '../upstream/upstream';
import { type RpcNotification, type RpcRequest, rpcError } from '../wire/json-rpc';
import { wantsLog } from '../wire/log-levels';
import { encodeFrame, KEEP_ALIVE, KEEP_ALIVE_MS, STREAM_HEADERS } from '../wire/sse-frame';
import { sealReply } from './bound-state';
import { asTold, rpcErrorOf } from './mcp-errors';
import { takenBy } from './mcp-request';
import { type ToldResponse, type Translation, translateResponse } from './translate-result';

export interface Relay extends Translation {
  readonly answer: UpstreamAnswer;
  readonly booking: CallBooking;
  readonly headers: HeaderTable;
}

/** After this time, a streaming client gets a sign of progress. */
const STREAM_AFTER_MS = 10_000;

type First = UpstreamPart | 'later' | undefined;

/** A server's answer to one request, as HTTP. Throws failures before the first byte, with the call settled. */
export async function relayAnswer(services: Services, relay: Relay): Promise<Response> {
  const { answer, mcpRequest } = relay;
  const onGone = () => giveUp(relay);
  mcpRequest.signal.addEventListener('abort', onGone, { once: true });
  const reading = answer.next();
  try {
    if (mcpRequest.signal.aborted) onGone();
    const first = await firstPart(mcpRequest.takesStream, reading);
    if (first !== 'later' && first?.kind === 'response') {
      const told = settle(relay, first);
      await relay.booking.handedOver;
      mcpRequest.signal.removeEventListener('abort', onGone);
      return await respondJson(services, told, relay);
    }
    if (mcpRequest.takesStream) return streamAnswer(services, relay, { first, reading, onGone });
    const told = await lastPart(relay, first);
    await relay.booking.handedOver;
    return await respondJson(services, told, relay);
  } catch (cause) {
    const error = asGatewayError(cause, services.log);
    relay.booking.fail(error);
    await relay.booking.handedOver;
    answer.close();
    throw error;
  }
}

function close({ answer, mcpRequest }: Relay): void {
  answer.close();
  mcpRequest.release();
}

function giveUp({ answer, booking }: Relay): void {
  booking.fail(new GatewayError('client_closed', 'The caller closed the connection, or cancelled the call.'));
  answer.close();
}

async function firstPart(takesStream: boolean, reading: Promise<UpstreamPart | undefined>): Promise<First> {
  if (!takesStream) return reading;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = new Promise<'later'>((resolve) => {
    timer = setTimeout(() => resolve('later'), STREAM_AFTER_MS);
  });
  try {
    return await Promise.race([reading, later]);
  } finally {
    clearTimeout(timer);
  }
}

/** For clients without streams: drops messages before the response. */
async function lastPart(relay: Relay, first: First): Promise<ToldResponse> {
  let part = first === 'later' ? undefined : first;
  for (;;) {
    if (part?.kind === 'response') return settle(relay, part);
    if (part?.kind === 'request') await refuseQuestion(relay, part.request);
    part = await relay.answer.next();
    if (part === undefined)
      throw new GatewayError('upstream_error', `${relay.alias} ended its answer without a result.`);
  }
}

function settle(relay: Relay, part: Extract<UpstreamPart, { kind: 'response' }>): ToldResponse {
  const { answer, booking } = relay;
  const told = translateResponse(relay, answer, part);
  booking.noteAnswer(told.text);
  if (told.error === undefined) booking.complete({ isError: told.isError, bytesOut: answer.receivedBytes });
  else booking.refuse(told.error, answer.receivedBytes);
  return told;
}

const CAPABILITY_MISSING = -32021;

async function respondJson(services: Services, { text, error }: ToldResponse, relay: Relay): Promise<Response> {
  const { headers, mcpRequest } = relay;
  const body = await takenWhole(takenBy(services, mcpRequest), text);
  close(relay);
  const isModern = mcpRequest.sender.client.era === 'modern';
  const status = isModern && error?.code === CAPABILITY_MISSING ? 400 : 200;
  return new Response(body, { status, headers: { ...headers, 'Content-Type': 'application/json' } });
}

interface Streaming {
  readonly first: First;
  readonly reading: Promise<UpstreamPart | undefined>;
  readonly onGone: () => void;
}

function streamAnswer(services: Services, relay: Relay, streaming: Streaming): Response {
  const stream = new RelayStream(services, relay, streaming);
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => stream.start(controller),
      pull: (controller) => stream.pull(controller),
      cancel: stream.leave,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...relay.headers, ...STREAM_HEADERS } });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** A server's messages as its client takes them, one frame each, with signs of life between them. */
class RelayStream {
  private readonly reader: Reader;
  private timer: ReturnType<typeof setInterval> | undefined;
  private isOver = false;
  /** Its last frame is going out. */
  private isLast = false;
  /** Size of a long frame; unread parts wait in memory. */
  private rest: Uint8Array | undefined;
  private next: Promise<UpstreamPart | undefined> | undefined;

  constructor(
    private readonly services: Services,
    private readonly relay: Relay,
    private readonly streaming: Streaming,
  ) {
    const { first, reading } = streaming;
    const { httpRequest, principal, ctx } = relay.mcpRequest;
    this.next = first === 'later' ? reading : Promise.resolve(first);
    this.reader = services.readers.begin({ request: httpRequest, key: principal.key.id, ahead: ctx.held }, this.leave);
  }

  /** The client left, or was cut. */
  readonly leave = (): void => {
    if (!this.isLast) this.streaming.onGone();
    this.end();
  };

  start(controller: Controller): void {
    const isBetween = () => !this.isOver && !this.isLast && this.rest === undefined;
    this.timer = setInterval(() => isBetween() && controller.enqueue(KEEP_ALIVE), KEEP_ALIVE_MS);
    if (this.streaming.first === 'later') controller.enqueue(KEEP_ALIVE);
  }

  async pull(controller: Controller): Promise<void> {
    this.reader.asked();
    if (this.rest !== undefined) return this.give(controller, this.rest);
    if (this.isLast) return this.close(controller);
    try {
      // A pull that gives nothing is not asked again.
      for (;;) {
        const part = await (this.next ?? this.relay.answer.next());
        this.next = undefined;
        const frame = part === undefined ? undefined : await frameOf(this.relay, part);
        if (this.isOver) return;
        this.isLast = part === undefined || part.kind === 'response';
        if (frame !== undefined) return this.give(controller, frame);
        if (this.isLast) return this.close(controller);
      }
    } catch (cause) {
      if (!this.isOver) await this.fail(controller, cause);
    }
  }

  private give(controller: Controller, bytes: Uint8Array): void {
    this.rest = bytes.byteLength > PIECE_BYTES ? bytes.subarray(PIECE_BYTES) : undefined;
    const piece = bytes.subarray(0, PIECE_BYTES);
    this.reader.gave(piece.byteLength);
    controller.enqueue(piece);
  }

  private async fail(controller: Controller, cause: unknown): Promise<void> {
    const { booking, mcpRequest } = this.relay;
    const error = asTold(asGatewayError(cause, this.services.log));
    booking.fail(error);
    await booking.handedOver;
    const told = rpcError(mcpRequest.request.id, rpcErrorOf(error, mcpRequest.ctx.requestId));
    controller.enqueue(encodeFrame(JSON.stringify(told)));
    this.close(controller);
  }

  private close(controller: Controller): void {
    this.end();
    controller.close();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.timer);
    this.rest = undefined;
    this.reader.end();
    this.relay.mcpRequest.signal.removeEventListener('abort', this.streaming.onGone);
    close(this.relay);
  }
}

async function frameOf(relay: Relay, part: UpstreamPart): Promise<Uint8Array | undefined> {
  if (part.kind === 'notification') return isTold(relay, part.notification) ? encodeFrame(part.text) : undefined;
  if (part.kind === 'request') return askClient(relay, part.request);
  const told = settle(relay, part);
  await relay.booking.handedOver;
  return encodeFrame(told.text);
}

/** Servers with sessions log freely; a client without a session receives only its requested level. */
const isTold = ({ mcpRequest }: Relay, { method, params }: RpcNotification): boolean =>
  method !== 'notifications/message' ||
  mcpRequest.sender.client.era === 'legacy' ||
  wantsLog(mcpRequest.request.params, params);

const ABILITY_OF: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};

/** A question of a server with sessions, for a client with sessions; other clients have no way to answer. */
async function askClient(relay: Relay, request: RpcRequest): Promise<Uint8Array | undefined> {
  const { mcpRequest, answer, alias, owner } = relay;
  const { client } = mcpRequest.sender;
  const ability = ABILITY_OF[request.method];
  const canAnswer = client.era === 'legacy' && ability !== undefined && client.capabilities[ability] !== undefined;
  if (!canAnswer || answer.replyTo === undefined) {
    await refuseQuestion(relay, request);
    return undefined;
  }
  const id = sealReply(owner.keyHash, { alias, replyTo: answer.replyTo, id: request.id });
  return encodeFrame(JSON.stringify({ jsonrpc: '2.0', id, method: request.method, params: request.params }));
}

const refuseQuestion = ({ answer }: Relay, { id, method }: RpcRequest): Promise<void> =>
  answer.reply(id, notForThisClient(method)).catch(() => {});
