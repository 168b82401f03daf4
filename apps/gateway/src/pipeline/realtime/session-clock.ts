import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { RealtimeReader } from '@llm0/providers/transport/call-realtime';
import type { SessionMeter } from './session-meter';
import type { SessionSpending } from './session-spending';

/** Seconds that are held at once. Each stretch has its row. */
const STRETCH_SECONDS = 60;
/** The next stretch is held so long before the end of one. */
const AHEAD_SECONDS = 2;

interface ClockParts {
  readonly spending: SessionSpending;
  readonly reader: Pick<RealtimeReader, 'takeSeconds'>;
  readonly monotonicMs: () => number;
  /** Told of each stretch of speech that is billed. */
  readonly onSpeech: (seconds: number) => void;
}

/** Pays a session by its seconds, a stretch at a time: it ends with the last stretch that the budget covers. */
export class SessionClock {
  private current: SessionMeter | undefined;
  /** Seconds of the stretches that were booked. */
  private booked = 0;
  private startedMs = 0;
  /** The vendor's count, which is cumulative. */
  private told = 0;
  private isFinal = false;
  private isHolding = false;
  private isClosed = false;

  constructor(
    private readonly spending: SessionSpending,
    private readonly monotonicMs: () => number,
    /** Seconds of speech since the last call, where these are billed instead of the session's. */
    private readonly takeSpeech?: () => number,
  ) {}

  /** undefined where a session has no clock. */
  static of({ spending, reader, monotonicMs, onSpeech }: ClockParts): SessionClock | undefined {
    const { protocol } = spending.session;
    const takeSpeech = () => {
      const seconds = reader.takeSeconds();
      onSpeech(seconds);
      return seconds;
    };
    if (protocol === 'translation') return new SessionClock(spending, monotonicMs, takeSpeech);
    return protocol === 'live' ? new SessionClock(spending, monotonicMs) : undefined;
  }

  private get isBySpeech(): boolean {
    return this.takeSpeech !== undefined;
  }

  /** What is billed by speech holds the next stretch before more of it goes on. Throws the refusal. */
  spare(): Promise<void> | undefined {
    return this.isBySpeech ? this.tick() : undefined;
  }

  /** Holds the first stretch. Throws the refusal. */
  async start(): Promise<void> {
    this.startedMs = this.monotonicMs();
    this.current = await this.hold();
  }

  tell(seconds: number, isFinal: boolean): void {
    this.told = Math.max(seconds, this.told);
    this.isFinal ||= isFinal;
  }

  /** Holds the next stretch in time; undefined: not yet. Throws the refusal. */
  tick(): Promise<void> | undefined {
    const isSoon = this.elapsed >= this.booked + STRETCH_SECONDS - AHEAD_SECONDS;
    return !isSoon || this.isHolding || this.isClosed ? undefined : this.goOn();
  }

  /** Books the rest. undefined: an ordinary end. */
  close(error?: GatewayError): void {
    this.isClosed = true;
    const { current } = this;
    this.current = undefined;
    const usage = this.usage();
    if (error === undefined) current?.complete(usage);
    else current?.fail(error);
    this.booked += secondsIn(usage);
  }

  private async goOn(): Promise<void> {
    this.isHolding = true;
    try {
      const next = await this.hold();
      const usage = this.usage();
      if (this.isClosed) {
        next.release();
        return;
      }
      this.current?.complete(usage);
      this.booked += secondsIn(usage);
      this.current = next;
    } finally {
      this.isHolding = false;
    }
  }

  private hold(): Promise<SessionMeter> {
    const bound = (): Usage => ({ ...ZERO_USAGE, units: this.unitsOf(STRETCH_SECONDS) });
    return this.spending.hold({ bound, estimate: () => this.usage() });
  }

  /** Until the vendor's last count, never less than has passed. */
  private get elapsed(): number {
    if (this.takeSpeech !== undefined) {
      this.told += this.takeSpeech();
      return this.told;
    }
    return this.isFinal ? this.told : Math.max(this.told, (this.monotonicMs() - this.startedMs) / 1000);
  }

  /** Of the current stretch. */
  private usage(): Usage {
    const seconds = Math.max(0, Math.ceil((this.elapsed - this.booked) * 1000) / 1000);
    const isExact = this.isFinal || this.isBySpeech;
    return { ...ZERO_USAGE, units: this.unitsOf(seconds), ...(isExact ? {} : { estimated: true }) };
  }

  private unitsOf(seconds: number): NonNullable<Usage['units']> {
    return this.isBySpeech ? { seconds } : { sessionSeconds: seconds };
  }
}

const secondsIn = ({ units }: Usage): number => units?.sessionSeconds ?? units?.seconds ?? 0;
