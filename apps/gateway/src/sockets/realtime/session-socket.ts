// A session ends as a whole: at its caller's end, its vendor's, with its key or its budget. What is open then is booked.
import type { JsonObject } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { clientClosed, GatewayError } from '@llm0/core/errors/gateway-error';
import type { CallerFact, VendorFact } from '@llm0/core/realtime/session-facts';
import type { RealtimeReader } from '@llm0/providers/transport/call-realtime';
import type { OpenedSession } from '../../pipeline/realtime/open-session';
import { SessionClock } from '../../pipeline/realtime/session-clock';
import { isPassing, type SessionSpending } from '../../pipeline/realtime/session-spending';
import { SessionTurns } from '../../pipeline/realtime/session-turns';
import type { Authenticated } from '../../pipeline/request/authenticate';
import type { SocketPeer, Wire } from '../socket-peer';
import { acceptSettings } from './accept-settings';
import { Flow, type Frame } from './flow';
import { takeFact } from './take-fact';

export interface SocketParts {
  readonly session: OpenedSession;
  readonly monotonicMs: () => number;
  readonly asError: (cause: unknown) => GatewayError;
  /** The session's first settings, of its secret. */
  readonly firstSettings?: JsonObject | undefined;
  /** SLOW_READER_TIMEOUT */
  readonly slowReaderMs: number;
  readonly onClose: () => void;
}

/** Bytes that may wait for the vendor, and when more of the caller is read. */
const UNSENT = { most: 256 * 1024, least: 64 * 1024 };
const LOOK_MS = 10;
/** Without a frame from either end. */
const IDLE_MS = 15 * 60_000;
const LIFETIME_MS = 60 * 60_000;
/** Time for the vendor's part of the closing. */
const CLOSING_MS = 1000;
const MOST_REASON = 120;

const CODES = { normal: 1000, away: 1001, refused: 1008, failed: 1011 } as const;

/** One session: its caller's connection, and its vendor's. Frames pass as they came. */
export class SessionSocket implements SocketPeer {
  readonly turns: SessionTurns;
  private readonly clock: SessionClock | undefined;
  private readonly reader: RealtimeReader;
  private wire: Wire | undefined;
  private fromCaller: Flow | undefined;
  private fromVendor: Flow | undefined;
  private isOver = false;
  private isLeaving = false;
  private readonly openedMs: number;
  private activeMs: number;
  private stalledMs: number | undefined;

  constructor(private readonly parts: SocketParts) {
    const { session, monotonicMs } = parts;
    const { part, spending, upstream } = session;
    this.reader = part.createReader();
    this.turns = new SessionTurns({ spending, reader: this.reader });
    const onSpeech = (seconds: number) => this.turns.hearing.pass(seconds);
    this.clock = SessionClock.of({ spending, reader: this.reader, monotonicMs, onSpeech });
    this.openedMs = monotonicMs();
    this.activeMs = this.openedMs;
    upstream.onmessage = ({ data }) => this.fromVendor?.push(data as Frame);
    upstream.onclose = ({ code, reason }) => this.vendorLeft(code, reason);
  }

  get spending(): SessionSpending {
    return this.parts.session.spending;
  }

  /** The key and project as they are now. Ends a session that they allow no more. */
  renew(principal: Authenticated): void {
    const { spending } = this;
    if (principal === spending.principal) return;
    spending.principal = principal;
    try {
      spending.checkSession();
    } catch (cause) {
      this.cut(this.parts.asError(cause));
    }
  }

  /** Holds what a session costs by itself. Throws the refusal. */
  async start(): Promise<void> {
    await this.clock?.start();
  }

  open(wire: Wire): void {
    this.wire = wire;
    if (this.isOver) {
      wire.close(CODES.failed, 'the session has ended');
      return;
    }
    const { upstream } = this.parts.session;
    this.fromCaller = new Flow(wire, (frame) => this.takeCallers(frame));
    this.fromVendor = new Flow(upstream, (frame) => this.takeVendors(frame));
    const { firstSettings } = this.parts;
    if (firstSettings !== undefined) {
      this.fromCaller.push(JSON.stringify({ type: 'session.update', session: firstSettings }));
    }
    upstream.resume();
  }

  receive(message: Frame): void {
    this.activeMs = this.parts.monotonicMs();
    this.fromCaller?.push(message);
  }

  drain(): void {
    this.stalledMs = undefined;
    this.fromVendor?.go('backpressure');
  }

  closed(): void {
    this.wire = undefined;
    this.end({ code: CODES.normal, reason: 'the caller left' });
  }

  /** Ends it for a shutdown, after its answers. */
  goAway(): void {
    this.isLeaving = true;
    if (this.clock !== undefined || this.turns.isIdle) this.leave();
  }

  /** Ends it at once: its key, project or budget has ended. */
  cut(error: GatewayError): void {
    this.tell(error);
    this.end({ code: CODES.refused, reason: `${error.kind}: ${error.message}`, error });
  }

  /** Regular look, several times a second. */
  tick(nowMs: number): void {
    if (this.stalledMs !== undefined && nowMs - this.stalledMs > this.parts.slowReaderMs) this.cutStalled();
    else if (nowMs - this.openedMs > LIFETIME_MS) this.endOld('The session reached its maximum of 60 minutes.');
    else if (nowMs - this.activeMs > IDLE_MS) this.endOld('Nothing was sent for 15 minutes.');
    else void this.clock?.tick()?.catch((cause: unknown) => this.cut(this.parts.asError(cause)));
  }

  private takeCallers(frame: Frame): Promise<void> | undefined {
    const text = typeof frame === 'string' ? frame : frame.toString();
    let fact: CallerFact | undefined;
    try {
      fact = this.reader.readCaller(text);
      if (fact?.type === 'settings') {
        this.forward(acceptSettings(this.parts.session, this.turns, fact.settings, { text, frame }));
        return undefined;
      }
    } catch (cause) {
      this.refuse(cause);
      return undefined;
    }
    const spared = () => this.clock?.spare() ?? this.turns.spare();
    const held = fact?.type === 'ask' ? this.turns.ask(fact.eventId, fact.outputTokens) : spared();
    if (held === undefined) {
      this.forward(frame);
      return undefined;
    }
    const eventId = fact?.type === 'ask' ? fact.eventId : undefined;
    return held.then(
      () => this.forward(frame),
      (cause: unknown) => this.refuse(cause, eventId),
    );
  }

  private takeVendors(frame: Frame): Promise<void> | undefined {
    // What waited for a decision is booked with the session.
    if (this.isOver) return undefined;
    this.activeMs = this.parts.monotonicMs();
    const text = typeof frame === 'string' ? frame : frame.toString();
    const fact = this.reader.readVendor(text);
    const decision = fact === undefined ? undefined : this.note(fact);
    if (decision === undefined) {
      this.show(frame, text);
      return undefined;
    }
    return decision.then(
      () => this.show(frame, text),
      (cause: unknown) => this.stop(fact?.type === 'began' ? fact.turnId : undefined, cause),
    );
  }

  /** A promise that rejects means that the vendor has begun what is refused. */
  private note(fact: VendorFact): Promise<void> | undefined {
    const { turns, clock } = this;
    let decision: Promise<void> | undefined;
    try {
      decision = takeFact(fact, { turns, clock });
    } catch (cause) {
      this.cut(this.parts.asError(cause));
    }
    if (decision === undefined && this.isLeaving && turns.isIdle) setTimeout(() => this.leave());
    return decision;
  }

  /** Stops an answer that nothing is held for. What can't be stopped ends with its session. */
  private stop(turnId: string | undefined, cause: unknown): void {
    const error = this.parts.asError(cause);
    const frame = turnId === undefined ? undefined : this.parts.session.part.cancelFrame(turnId);
    if (frame !== undefined) this.forward(frame);
    const isStopped = turnId === undefined || frame !== undefined;
    if (isPassing(error) && isStopped) this.tell(error);
    else this.cut(error);
  }

  private refuse(cause: unknown, eventId?: string): void {
    const error = this.parts.asError(cause);
    const isCallers = error.kind === 'invalid_request' || isPassing(error);
    const canTell = this.parts.session.part.errorFrame(error) !== undefined;
    if (isCallers && canTell) this.tell(error, eventId);
    else this.cut(error);
  }

  private tell(error: GatewayError, eventId?: string): void {
    const frame = this.parts.session.part.errorFrame(error, eventId);
    if (frame !== undefined && !this.isOver) this.wire?.send(frame);
  }

  private show(frame: Frame, text: string): void {
    const { refusedIds } = this.turns;
    for (const id of refusedIds) if (this.parts.session.part.belongsTo(text, id)) return;
    if (this.wire?.send(frame) !== -1) return;
    this.stalledMs ??= this.parts.monotonicMs();
    this.fromVendor?.stop('backpressure');
  }

  private forward(frame: Frame): void {
    const { upstream } = this.parts.session;
    if (this.isOver) return;
    upstream.send(frame as string);
    if (upstream.bufferedAmount <= UNSENT.most || this.fromCaller?.isStoppedBy('backpressure') === true) return;
    this.fromCaller?.stop('backpressure');
    const look = setInterval(() => {
      if (!this.isOver && upstream.bufferedAmount > UNSENT.least) return;
      clearInterval(look);
      if (!this.isOver) this.fromCaller?.go('backpressure');
    }, LOOK_MS);
  }

  private vendorLeft(code: number, reason: string): void {
    const { provider } = this.parts.session.spending.session.target;
    if (code === CODES.normal) {
      this.end({ code, reason });
      return;
    }
    const error = new GatewayError('upstream_error', `${provider} ended the session. ${reason}`.trim());
    this.tell(error);
    this.end({ code: CODES.failed, reason: reason === '' ? 'upstream_error' : reason, error });
  }

  private cutStalled(): void {
    this.end({ code: CODES.refused, reason: 'nothing was read', error: clientClosed() });
    this.wire?.terminate();
  }

  private endOld(message: string): void {
    this.tell(new GatewayError('invalid_request', message, { param: 'session' }));
    this.end({ code: CODES.normal, reason: message });
  }

  private leave(): void {
    this.end({ code: CODES.away, reason: 'the gateway is shutting down' });
  }

  private end({ code, reason, error }: { code: number; reason: string; error?: GatewayError }): void {
    if (this.isOver) return;
    this.isOver = true;
    const { session, onClose } = this.parts;
    const { upstream, meter, slots, underWay } = session;
    // Its last seconds may be written down as well.
    this.clock?.close(error);
    this.turns.close(error);
    if (error === undefined) meter.complete(ZERO_USAGE);
    else meter.fail(error);
    slots?.end();
    this.wire?.close(code, reason.slice(0, MOST_REASON));
    upstream.onclose = null;
    upstream.onmessage = null;
    upstream.resume();
    upstream.close();
    setTimeout(() => upstream.terminate(), CLOSING_MS).unref();
    underWay.end();
    onClose();
  }
}
