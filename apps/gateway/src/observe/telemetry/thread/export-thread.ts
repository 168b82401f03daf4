// If the thread fails, its unconfirmed rows count as lost. The next rows start a new thread, with back-off.
import { Worker } from 'node:worker_threads';
import { inTime } from '@llm0/core/async/in-time';
import type { StoredRecords } from '@llm0/core/tracing/span';
import type { KnownModel } from '../../record-metrics';
import type { Window } from '../otlp/encode-metrics';
import type { TryFailure } from '../otlp-client';
import type { Family } from '../registry-metrics';
import { askedProvider, hasSpans, modelKey } from '../rows';
import type { Bodies, ExportSettings, FromThread, Loss, Signal, ToThread } from './messages';

export interface ExportThreadOptions extends ExportSettings {
  readonly isKnown: KnownModel;
  readonly loadBodies: (requestIds: readonly string[]) => Promise<Bodies>;
  readonly onTaken: (signal: Signal, items: number) => void;
  readonly onLost: (signal: Signal, loss: Loss) => void;
  /** One request to the collector was not taken. */
  readonly onFailed: (signal: Signal, reason: TryFailure, detail: string) => void;
  readonly start?: () => Worker;
  readonly firstBackOffMs?: number;
}

type Requests = StoredRecords['requests'];
type Calls = StoredRecords['calls'];

/** Rows of one message: some milliseconds of work in the thread. */
const ROWS_A_MESSAGE = 250;
/** Maximum of rows and characters in transit; beyond it, the thread is stalled. */
const MAX_UNDERWAY = 4_096;
const MAX_CHARACTERS = 16 * 1024 * 1024;
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 60_000;
/** Extra time beyond the thread's own deadline. */
const GRACE_MS = 250;
/** A collector that gives no answer is not waited for longer at the end. */
const AWAY_MS = 1_000;

interface Underway {
  readonly rows: number;
  readonly characters: number;
}

/** Exports spans and metrics from a separate thread: requests only hand over text. */
export class ExportThread {
  private worker: Worker | undefined;
  private readonly underway = new Map<number, Underway>();
  private rows = 0;
  private characters = 0;
  private nextId = 0;
  /** Unfinished items. */
  private readonly open: Record<Signal, number> = { traces: 0, metrics: 0 };
  private backOffMs: number;
  private startedMs = 0;
  private restartMs = 0;
  private closed: PromiseWithResolvers<void> | undefined;
  private closingSinceMs = 0;
  /** Signals of which the last request got no answer. */
  private readonly away = new Set<Signal>();

  constructor(private readonly options: ExportThreadOptions) {
    this.backOffMs = options.firstBackOffMs ?? FIRST_BACK_OFF_MS;
  }

  /** Never throws, never waits. */
  take({ requests, calls }: StoredRecords): void {
    const { settings } = this.options;
    const isWanted = settings.metrics ? () => true : hasSpans;
    const wanted = requests.filter(({ record }) => isWanted(record));
    const wantedCalls = calls.filter(isWanted);
    for (let at = 0; at < wanted.length; at += ROWS_A_MESSAGE) {
      this.hand(wanted.slice(at, at + ROWS_A_MESSAGE), []);
    }
    if (wantedCalls.length > 0) this.hand([], wantedCalls);
  }

  /** True while the thread sends metrics. */
  get isSendingMetrics(): boolean {
    return this.open.metrics > 0;
  }

  /** Sends all metrics; never waits. */
  sendMetrics(families: readonly Family[], window: Window): void {
    if (!this.isThere()) {
      this.lose('metrics', 1);
      return;
    }
    this.open.metrics += 1;
    this.post({ type: 'metrics', families, window });
  }

  /** Sends waiting data for at most `timeoutMs`, less without an answer; later or remaining data is lost. */
  async close(timeoutMs: number): Promise<void> {
    this.closed = Promise.withResolvers();
    this.closingSinceMs = performance.now();
    const mostMs = this.away.size > 0 ? Math.min(timeoutMs, AWAY_MS) : timeoutMs;
    if (this.worker !== undefined) {
      this.post({ type: 'close', timeoutMs: mostMs });
      await inTime(this.closed.promise, mostMs + GRACE_MS, () => {});
    }
    this.end({ reason: 'shutdown', detail: STOPS });
  }

  private hand(requests: Requests, calls: Calls): void {
    const { settings, isKnown } = this.options;
    const spans = settings.traces ? countSpans(requests) + calls.filter(hasSpans).length : 0;
    const message = {
      requests: `[${requests.map(({ json }) => json).join()}]`,
      calls: calls.length === 0 ? '[]' : JSON.stringify(calls),
    };
    const part = { rows: requests.length + calls.length, characters: message.requests.length + message.calls.length };
    if (!this.isThere()) {
      this.lose('traces', spans);
      return;
    }
    if (this.rows + part.rows > MAX_UNDERWAY || this.characters + part.characters > MAX_CHARACTERS) {
      this.options.onLost('traces', { items: spans, reason: 'queue_full', detail: 'the export thread is stuck' });
      return;
    }
    const id = this.nextId++;
    this.underway.set(id, part);
    this.count(part, 1);
    this.open.traces += spans;
    const known = settings.metrics ? knownModels(requests, isKnown) : [];
    this.post({ type: 'rows', id, ...message, known });
  }

  private count({ rows, characters }: Underway, sign: 1 | -1): void {
    this.rows += sign * rows;
    this.characters += sign * characters;
  }

  private lose(signal: Signal, items: number): void {
    if (items === 0) return;
    const loss = this.closed === undefined ? BROKEN : ({ reason: 'shutdown', detail: STOPS } as const);
    this.options.onLost(signal, { items, ...loss });
  }

  private isThere(): boolean {
    if (this.worker !== undefined) return true;
    if (this.closed !== undefined || performance.now() < this.restartMs) return false;
    try {
      this.worker = this.start();
      return true;
    } catch {
      this.backOff();
      return false;
    }
  }

  private start(): Worker {
    const { settings, version, instanceId, start = startWorker } = this.options;
    this.startedMs = performance.now();
    const worker = start();
    worker.on('message', (message: FromThread) => this.onMessage(worker, message));
    worker.on('error', () => this.onBroken(worker));
    worker.on('exit', () => this.onBroken(worker));
    worker.unref();
    const first: ToThread = { type: 'settings', settings, version, instanceId };
    worker.postMessage(first);
    return worker;
  }

  private post(message: ToThread): void {
    this.worker?.postMessage(message);
  }

  private onMessage(worker: Worker, message: FromThread): void {
    if (worker !== this.worker) return;
    const { onTaken, onLost } = this.options;
    if (message.type === 'received') {
      const part = this.underway.get(message.id);
      this.underway.delete(message.id);
      if (part !== undefined) this.count(part, -1);
    } else if (message.type === 'taken') {
      this.open[message.signal] -= message.items;
      this.away.delete(message.signal);
      onTaken(message.signal, message.items);
    } else if (message.type === 'lost') {
      const { type: _type, signal, ...loss } = message;
      this.open[signal] -= loss.items;
      onLost(signal, loss);
    } else if (message.type === 'failed') this.onFailed(message);
    else if (message.type === 'wanted') void this.loadBodies(worker, message);
    else this.closed?.resolve();
  }

  private onFailed({ signal, reason, detail }: Extract<FromThread, { type: 'failed' }>): void {
    this.options.onFailed(signal, reason, detail);
    if (reason !== 'unreachable') {
      this.away.delete(signal);
      return;
    }
    this.away.add(signal);
    const { closed } = this;
    if (closed !== undefined) setTimeout(closed.resolve, AWAY_MS - (performance.now() - this.closingSinceMs)).unref();
  }

  /** Bodies that cannot be read are none: spans go out without them. */
  private async loadBodies(worker: Worker, { id, requestIds }: Extract<FromThread, { type: 'wanted' }>): Promise<void> {
    const bodies = await this.options.loadBodies(requestIds).catch((): Bodies => new Map());
    const answer: ToThread = { type: 'bodies', id, bodies };
    worker.postMessage(answer);
  }

  private onBroken(worker: Worker): void {
    if (worker !== this.worker) return;
    this.backOff();
    this.end(BROKEN);
    this.closed?.resolve();
  }

  private backOff(): void {
    const { firstBackOffMs = FIRST_BACK_OFF_MS } = this.options;
    const nowMs = performance.now();
    if (nowMs - this.startedMs > LONGEST_BACK_OFF_MS) this.backOffMs = firstBackOffMs;
    this.restartMs = nowMs + this.backOffMs;
    this.backOffMs = Math.min(2 * this.backOffMs, LONGEST_BACK_OFF_MS);
  }

  private end(loss: Omit<Loss, 'items'>): void {
    const { worker } = this;
    this.worker = undefined;
    void worker?.terminate();
    this.underway.clear();
    this.rows = 0;
    this.characters = 0;
    for (const signal of ['traces', 'metrics'] as const) {
      const items = this.open[signal];
      this.open[signal] = 0;
      if (items > 0) this.options.onLost(signal, { items, ...loss });
    }
  }
}

const STOPS = 'the gateway stops';
const BROKEN = { reason: 'broken', detail: 'the thread of the export ended' } as const;

const startWorker = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { env: {} });

function countSpans(requests: Requests): number {
  let count = 0;
  for (const { record } of requests) if (hasSpans(record)) count += 1;
  return count;
}

function knownModels(requests: Requests, isKnown: KnownModel): readonly string[] {
  const known = new Set<string>();
  for (const { record } of requests) {
    const provider = askedProvider(record);
    const key = modelKey(provider, record.model);
    if (!known.has(key) && isKnown(provider, record.model)) known.add(key);
  }
  return [...known];
}
