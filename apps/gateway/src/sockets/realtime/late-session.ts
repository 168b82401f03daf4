import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SocketPeer, Wire } from '../socket-peer';
import type { Frame } from './flow';
import type { SessionSocket } from './session-socket';

export interface LateParts {
  /** Rejects with the refusal, which has its row. */
  readonly open: (first: string) => Promise<SessionSocket>;
  readonly onClose: () => void;
}

const REFUSED = 1008;
const MOST_REASON = 120;
/** Time for the first message. */
const FIRST_MS = 30_000;

/** A connection whose first message says which session it wants. */
export class LateSession implements SocketPeer {
  private wire: Wire | undefined;
  private session: SessionSocket | undefined;
  private readonly waiting: Frame[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: LateParts) {}

  open(wire: Wire): void {
    this.wire = wire;
    const error = new GatewayError('invalid_request', 'No message came. Send "setup" first.');
    this.timer = setTimeout(() => this.refuse(error), FIRST_MS);
  }

  receive(message: Frame): void {
    if (this.session !== undefined) {
      this.session.receive(message);
      return;
    }
    this.waiting.push(message);
    if (this.waiting.length > 1) return;
    clearTimeout(this.timer);
    this.wire?.pause();
    this.parts.open(message.toString()).then(
      (session) => this.begin(session),
      (error: unknown) => this.refuse(error),
    );
  }

  drain(): void {
    this.session?.drain();
  }

  closed(): void {
    clearTimeout(this.timer);
    this.wire = undefined;
    if (this.session === undefined) this.parts.onClose();
    else this.session.closed();
  }

  /** Ends it where it has no session yet. */
  goAway(): void {
    if (this.session === undefined) this.refuse(new GatewayError('overloaded', 'This gateway is shutting down.'));
  }

  private begin(session: SessionSocket): void {
    if (this.wire === undefined) {
      session.closed();
      return;
    }
    this.session = session;
    session.open(this.wire);
    for (const frame of this.waiting.splice(0)) session.receive(frame);
    // A refusal of its first frame has closed it.
    this.wire?.resume();
  }

  private refuse(error: unknown): void {
    const told = error instanceof GatewayError ? `${error.kind}: ${error.message}` : 'internal error';
    const { wire } = this;
    this.closed();
    wire?.resume();
    wire?.close(REFUSED, told.slice(0, MOST_REASON));
  }
}
