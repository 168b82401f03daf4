import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { boundHearing } from '@llm0/core/realtime/conversation-size';
import { type SessionSettings, UNNAMED_MODEL } from '@llm0/core/realtime/session-facts';
import { refuseUnbounded } from '@llm0/core/tasks/task-request';
import type { RealtimeReader } from '@llm0/providers/transport/call-realtime';
import type { SessionMeter } from './session-meter';
import type { SessionSpending } from './session-spending';

interface Needs {
  readonly spending: SessionSpending;
  readonly reader: Pick<RealtimeReader, 'takeSeconds'>;
}

/** Speech that is written down, at the price of a model of its own. */
interface Hearing {
  readonly model: string;
  readonly seconds: number;
  readonly promptBytes: number;
  /** Nobody has named the model: it may turn out to be another one. */
  readonly isGuess?: boolean;
}

/** Seconds of speech that strict caps hold before it goes on. */
const SPARE_SECONDS = 300;
/** Seconds after which speech without pieces is booked. */
const STRETCH_SECONDS = 60;
/** Pieces without a model that may still turn out to be written down. */
const MOST_UNNAMED = 64;

/** Pieces of speech of one session: each is held when its speech ends, under strict caps before it goes on. */
export class SessionHearing {
  /** By the vendor's id. */
  private readonly open = new Map<string, SessionMeter>();
  /** Their hold was refused, or nobody asked for them: the vendor writes them down all the same. */
  private readonly unheld = new Map<string, Hearing>();
  /** Seconds of pieces that nobody should write down. */
  private readonly unnamed = new Map<string, number>();
  private spareHold: { readonly meter: SessionMeter; readonly model: string; readonly seconds: number } | undefined;
  /** Of speech that the vendor has not committed. */
  private seconds = 0;
  /** Of speech without pieces that is not booked. */
  private passed = 0;
  /** The same, since the caller asked for a model that the vendor has not confirmed. */
  private unconfirmed: number | undefined;
  private settings: SessionSettings = {};
  /** A piece that is being written down before its end. */
  private early: string | undefined;
  /** A vendor that writes down by itself doesn't name its model. */
  private guessed: string | undefined;
  private isClosed = false;

  constructor(private readonly needs: Needs) {}

  get isIdle(): boolean {
    return this.open.size === 0;
  }

  configure(settings: SessionSettings): void {
    const { transcriptionModel: before } = this.settings;
    const transcriptionModel = this.nameOf(settings.transcriptionModel);
    if (transcriptionModel !== before) this.bookPassed();
    this.settings = { ...settings, transcriptionModel };
    if (before == null && transcriptionModel != null) this.passed = this.unconfirmed ?? 0;
    this.unconfirmed = undefined;
  }

  /** Seconds of a session whose speech has no pieces. The vendor tells nothing of what writing them down costs. */
  pass(seconds: number): void {
    if (this.settings.transcriptionModel == null) {
      if (this.unconfirmed !== undefined) this.unconfirmed += seconds;
      return;
    }
    this.passed += seconds;
    if (this.passed >= STRETCH_SECONDS) this.bookPassed();
  }

  /** Throws for a model that key or project don't allow. */
  check(settings: SessionSettings): void {
    const transcriptionModel = this.nameOf(settings.transcriptionModel);
    if (transcriptionModel == null) return;
    const bound = (priced: PricedModel) => boundHearing(priced, 1);
    this.needs.spending.check({ ...this.partOf(transcriptionModel), bound });
    this.unconfirmed ??= 0;
  }

  /** Under strict caps, holds speech before it goes on. Throws the refusal. */
  spare(): Promise<void> | undefined {
    const { spending, reader } = this.needs;
    const { model, spareHold } = this;
    if (!spending.principal.project.strictCaps || model === undefined) return undefined;
    this.seconds += reader.takeSeconds();
    if (spareHold?.model === model && this.seconds <= spareHold.seconds) return undefined;
    const seconds = Math.max(SPARE_SECONDS, 2 * this.seconds);
    return this.hold({ ...this.hearingBy(model), seconds }).then((meter) => {
      this.spareHold?.meter.release();
      this.spareHold = { meter, model, seconds };
      if (this.isClosed) meter.release();
    });
  }

  /** A piece of speech has ended. Throws the refusal; the vendor writes it down all the same. */
  async hear(itemId: string): Promise<void> {
    const seconds = this.seconds + this.needs.reader.takeSeconds();
    this.seconds = 0;
    const { model, spareHold } = this;
    const isBegun = this.early === itemId;
    this.early = undefined;
    if (model === undefined) {
      this.noteUnnamed(itemId, seconds);
      if (isBegun) this.begin(itemId);
      return;
    }
    if (spareHold?.model === model && seconds <= spareHold.seconds) {
      this.open.set(itemId, spareHold.meter);
      this.spareHold = undefined;
      return;
    }
    const hearing = { ...this.hearingBy(model), seconds };
    try {
      const meter = await this.hold(hearing);
      if (this.isClosed) meter.abort();
      else this.open.set(itemId, meter);
    } catch (error) {
      if (this.isClosed) this.book(hearing).abort();
      else this.unheld.set(itemId, hearing);
      throw error;
    }
  }

  /** The vendor has written down first words of a piece: it bills them, whoever asked. */
  begin(itemId: string): void {
    if (this.open.has(itemId) || this.unheld.has(itemId)) return;
    const seconds = this.unnamed.get(itemId);
    if (seconds === undefined) {
      this.early = itemId;
      return;
    }
    this.unnamed.delete(itemId);
    this.unheld.set(itemId, { ...this.begun(), seconds });
  }

  /** Books it. Throws where strict caps can't bound what the vendor does by itself. */
  heard(itemId: string, usage: Usage | undefined, failure?: string): void {
    const { model } = this;
    const held = this.open.get(itemId);
    const known = this.unheld.get(itemId);
    const seconds = known?.seconds ?? this.unnamed.get(itemId) ?? 0;
    for (const map of [this.open, this.unheld, this.unnamed]) map.delete(itemId);
    if (this.early === itemId) this.early = undefined;
    if (held !== undefined) {
      held.complete(usage, failure);
      return;
    }
    if (known === undefined && usage === undefined && failure !== undefined) return;
    const isGuess = known === undefined ? this.named === undefined : known.isGuess === true;
    const hearing = known && !isGuess ? known : { ...this.hearingBy(model ?? this.guess(usage)), seconds };
    this.book(hearing, usage).complete(usage && isGuess ? { ...usage, estimated: true } : usage, failure);
    if (!isGuess) return;
    this.guessed = hearing.model;
    if (this.needs.spending.principal.project.strictCaps) {
      throw refuseUnbounded('session.audio.input.transcription', 'speech that the provider writes down unasked');
    }
  }

  /** The session ends: books what has not ended as far as it is known. undefined: the caller left. */
  close(error?: GatewayError): void {
    this.isClosed = true;
    this.bookPassed();
    const unheld = [...this.unheld.values()].map((hearing) => this.book(hearing));
    for (const meter of [...this.open.values(), ...unheld, ...this.closeEarly(error)]) {
      if (error === undefined) meter.abort();
      else meter.fail(error);
    }
    for (const map of [this.open, this.unheld, this.unnamed]) map.clear();
  }

  /** Speech whose piece has not ended is billed if words of it were written down. */
  private closeEarly(error?: GatewayError): readonly SessionMeter[] {
    const { spareHold, early } = this;
    const seconds = this.seconds + this.needs.reader.takeSeconds();
    if (early !== undefined && spareHold !== undefined) return [spareHold.meter];
    spareHold?.meter.release(error);
    return early === undefined || seconds === 0 ? [] : [this.book({ ...this.begun(), seconds })];
  }

  private bookPassed(): void {
    const { transcriptionModel: model } = this.settings;
    const { passed: seconds } = this;
    this.passed = 0;
    if (model != null && seconds > 0) this.book({ ...this.hearingBy(model), seconds }).complete(undefined);
  }

  /** By the model that most likely writes speech down. */
  private begun(): Omit<Hearing, 'seconds'> {
    return { ...this.hearingBy(this.model ?? this.guess(undefined)), isGuess: this.named === undefined };
  }

  /** A model without a name is the one of before, else the dearest. */
  private nameOf(model: string | null | undefined): string | null | undefined {
    return model === UNNAMED_MODEL ? (this.settings.transcriptionModel ?? this.guess(undefined)) : model;
  }

  private get named(): string | undefined {
    const { isTranscription, target } = this.needs.spending.session;
    return this.settings.transcriptionModel ?? (isTranscription ? target.model : undefined);
  }

  private get model(): string | undefined {
    return this.named ?? this.guessed;
  }

  private hearingBy(model: string): Omit<Hearing, 'seconds'> {
    return { model, promptBytes: this.settings.promptBytes ?? 0 };
  }

  private partOf(model: string) {
    const { target, isTranscription } = this.needs.spending.session;
    const isOwn = isTranscription && model === target.model;
    return { target: { provider: target.provider, model }, ...(isOwn ? {} : { isOther: true as const }) };
  }

  private hold({ model, seconds, promptBytes }: Hearing): Promise<SessionMeter> {
    let priced: PricedModel | undefined;
    return this.needs.spending.hold({
      ...this.partOf(model),
      bound: (one) => {
        priced = one;
        return boundHearing(one, seconds, promptBytes);
      },
      estimate: () => priced && boundHearing(priced, seconds, promptBytes),
    });
  }

  private book({ model, seconds, promptBytes }: Hearing, usage?: Usage): SessionMeter {
    const part = this.partOf(model);
    const priced = this.needs.spending.priceOf(part.target);
    const estimate = () => usage ?? (priced === undefined ? ZERO_USAGE : boundHearing(priced, seconds, promptBytes));
    return this.needs.spending.without({ ...part, bound: estimate, estimate });
  }

  /** The dearest model of the provider that bills such usage; without one, the session's own. */
  private guess(usage: Usage | undefined): string {
    const { spending } = this.needs;
    const { target } = spending.session;
    return spending.dearestModel('transcription', (priced) => usage ?? boundHearing(priced, 1)) ?? target.model;
  }

  private noteUnnamed(itemId: string, seconds: number): void {
    const [oldest] = this.unnamed.keys();
    if (this.unnamed.size >= MOST_UNNAMED && oldest !== undefined) this.unnamed.delete(oldest);
    this.unnamed.set(itemId, seconds);
  }
}
