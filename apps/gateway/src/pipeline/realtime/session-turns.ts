import { addUsage, type Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { ConversationSize } from '@llm0/core/realtime/conversation-size';
import { mergeSettings, type SessionSettings } from '@llm0/core/realtime/session-facts';
import { refuseUnbounded } from '@llm0/core/tasks/task-request';
import type { RealtimeReader } from '@llm0/providers/transport/call-realtime';
import { SessionHearing } from './session-hearing';
import type { SessionMeter } from './session-meter';
import type { SessionSpending } from './session-spending';

/** An answer that was asked for, and has not begun. */
interface Asked {
  readonly meter: SessionMeter;
  readonly eventId: string | undefined;
  /** The gateway holds it for an answer that nobody asked for yet. */
  readonly isSpare: boolean;
}

interface Needs {
  readonly spending: SessionSpending;
  readonly reader: RealtimeReader;
}

/** Answers of one session: each is held before it begins, and booked when it ends. */
export class SessionTurns {
  private readonly asked: Asked[] = [];
  /** By the vendor's id. */
  private readonly open = new Map<string, SessionMeter>();
  /** Answers without a hold. */
  private readonly refused = new Set<string>();
  private readonly size = new ConversationSize();
  private settings: SessionSettings = {};
  private isClosed = false;

  readonly hearing: SessionHearing;

  constructor(private readonly needs: Needs) {
    this.hearing = new SessionHearing(needs);
  }

  get isIdle(): boolean {
    return this.open.size + this.refused.size + this.asked.length === 0 && this.hearing.isIdle;
  }

  /** Answers that their caller shall not see; empty nearly always. */
  get refusedIds(): ReadonlySet<string> {
    return this.refused;
  }

  /** Takes settings that the vendor confirmed. */
  configure(settings: SessionSettings): void {
    this.check(settings);
    this.settings = mergeSettings(this.settings, settings);
    this.hearing.configure(this.settings);
  }

  /** Throws for settings that key or project don't allow. */
  check(settings: SessionSettings): void {
    const [odd] = settings.unbounded ?? [];
    if (odd !== undefined && this.isStrict) throw refuseUnbounded(odd, `"${odd}" that the vendor runs`);
    this.hearing.check(settings);
  }

  /** Holds an answer that the caller asks for. Throws the refusal. */
  async ask(eventId: string | undefined, outputTokens?: number): Promise<void> {
    const meter = await this.holdTurn(outputTokens);
    this.asked.push({ meter, eventId, isSpare: false });
  }

  /** Under strict caps: what begins by itself has its hold before. */
  spare(): Promise<void> | undefined {
    const heard = this.hearing.spare();
    return heard === undefined ? this.spareTurn() : heard.then(() => this.spareTurn());
  }

  private spareTurn(): Promise<void> | undefined {
    const { answersAlone = true } = this.settings;
    const isAnswering = answersAlone && !this.needs.spending.session.isTranscription;
    if (!this.isStrict || !isAnswering || this.asked.length > 0 || this.open.size > 0) return undefined;
    return this.holdTurn().then((meter) => {
      this.asked.push({ meter, eventId: undefined, isSpare: true });
    });
  }

  /** An answer begins. Throws the refusal of one that nobody asked for; then it has to be stopped. */
  begin(turnId: string): Promise<void> | undefined {
    if (this.open.size === 0) this.needs.reader.takeOutput();
    const asked = this.asked.shift();
    if (asked !== undefined) {
      this.began(turnId, asked.meter);
      return undefined;
    }
    return this.holdTurn().then(
      (meter) => this.began(turnId, meter),
      (error: unknown) => {
        if (!this.isClosed) this.refused.add(turnId);
        throw error;
      },
    );
  }

  /** Books an answer. */
  end(turnId: string, usage: Usage | undefined, failure?: string): void {
    const { reader } = this.needs;
    const meter = this.open.get(turnId) ?? this.unheld(turnId, usage);
    if (usage !== undefined) {
      // Begun turns count the rest of their output themselves.
      if (this.open.size <= 1) reader.takeOutput();
      this.size.tell(usage);
    }
    meter?.complete(usage, failure);
    this.open.delete(turnId);
    this.refused.delete(turnId);
  }

  /** The vendor refused a frame of the caller: nothing begins that was held for it. */
  reject(eventId: string | undefined, message: string): void {
    const at = this.asked.findIndex((one) => !one.isSpare && (eventId === undefined || one.eventId === eventId));
    const [asked] = at === -1 ? [] : this.asked.splice(at, 1);
    asked?.meter.release(new GatewayError('upstream_rejected', message));
  }

  /** The session ends: books what has not ended as far as it is known. undefined: the caller left. */
  close(error?: GatewayError): void {
    this.isClosed = true;
    for (const { meter, isSpare } of this.asked) if (isSpare) meter.release(error);
    for (const meter of [...this.open.values(), ...this.asked.map(({ meter }) => meter)]) {
      if (error === undefined) meter.abort();
      else meter.fail(error);
    }
    this.hearing.close(error);
    this.open.clear();
    this.refused.clear();
    this.asked.length = 0;
  }

  private get isStrict(): boolean {
    return this.needs.spending.principal.project.strictCaps;
  }

  private began(turnId: string, meter: SessionMeter): void {
    if (this.isClosed) meter.abort();
    else this.open.set(turnId, meter);
    meter.markBegin();
  }

  private async holdTurn(ownLimit?: number): Promise<SessionMeter> {
    const { spending, reader } = this.needs;
    const { strictCaps: strict, defaultOutputTokens } = spending.principal.project;
    this.size.add(reader.takeInput());
    const outputTokens = ownLimit ?? this.settings.outputTokens ?? undefined;
    const bound = (priced: PricedModel) => this.size.bound(priced, { strict, outputTokens, defaultOutputTokens });
    const meter = await spending.hold({ bound, estimate: () => addUsage(this.size.read, reader.takeOutput()) });
    if (!this.isClosed) return meter;
    meter.release();
    throw new GatewayError('client_closed', 'The session has ended.');
  }

  /** An answer that was refused, or that the gateway never saw begin, costs all the same. */
  private unheld(turnId: string, usage: Usage | undefined): SessionMeter | undefined {
    if (usage === undefined && !this.refused.has(turnId)) return undefined;
    const told = () => usage ?? addUsage(this.size.read, this.needs.reader.takeOutput());
    return this.needs.spending.without({ bound: told, estimate: told });
  }
}
