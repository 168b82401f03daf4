// Without Postgres, writes wait within limits (more are dropped and counted), and look-ups of other processes' answers
// fail.
import { type UnpackRoom, unpackText } from '../cache/packed-text';
import { GatewayError } from '../errors/gateway-error';
import { BatchWriter } from '../logs/batch-writer';
import { RecordsRejectedError } from '../logs/decode-log-record';

/** Owner of an answer. */
export interface AnswerOwner {
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly customerId?: string;
}

/** Caller of a stored answer: only its owner may read it. */
export interface AnswerReader extends AnswerOwner {
  /** True if all keys of the project share its answers. */
  readonly isShared: boolean;
  /** Memory for reading. */
  readonly room?: UnpackRoom;
}

/** An answer with its request's part of the conversation, so that its owner can continue. */
export interface StoredResponse extends AnswerOwner {
  /** UUID of the request. */
  readonly id: string;
  /** The previous stored answer. */
  readonly previousId?: string;
  /** JSON texts in the caller's format: the request's own input, and the whole answer. Large ones are packed. */
  readonly input: string;
  readonly answer: string;
  /** Ids of the answer's items, by which later requests may name them. */
  readonly itemIds: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** One step of a conversation. */
export type StoredTurn = Pick<StoredResponse, 'id' | 'previousId' | 'input' | 'answer'>;

/** Stores answers. An answer that expired by `nowMs` is found only as part of a conversation that hasn't. */
export interface StoredResponseStore {
  /**
   * Extends the conversations that the answers continue. Throws `RecordsRejectedError` for permanently invalid entries.
   */
  write(answers: readonly StoredResponse[]): Promise<void>;
  /** The turns that lead to `id`, newest first; fewer where one was deleted, or beyond `maxBytes` of text. */
  readConversation(reader: AnswerReader, id: string, limits: ReadLimits): Promise<readonly StoredTurn[]>;
  /** Newest answers that hold one of the items. */
  findByItems(reader: AnswerReader, itemIds: readonly string[], nowMs: number): Promise<readonly string[]>;
  /** False when there was none. */
  remove(reader: AnswerReader, id: string, nowMs: number): Promise<boolean>;
}

export interface ReadLimits {
  readonly nowMs: number;
  readonly maxTurns: number;
  readonly maxBytes: number;
}

/** An answer as it is given for later. */
export type GivenResponse = Omit<StoredResponse, 'createdAtMs' | 'expiresAtMs'>;

/** What requests do with answers. */
export type KeptAnswers = Pick<
  StoredResponses,
  'enabled' | 'keep' | 'readConversation' | 'readAnswer' | 'findByItems' | 'remove'
>;

export interface StoredResponsesOptions {
  readonly store: StoredResponseStore;
  readonly nowMs: () => number;
  /** Lifetime of answers in milliseconds; 0 = not cached. */
  readonly retentionMs: number;
  /** Longest conversation that is read, in bytes of JSON. */
  readonly maxBytes: number;
  readonly onDrop: (answers: number) => void;
  /** Delay of writes in milliseconds. */
  readonly everyMs?: number;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

const EVERY_MS = 25;
const MAX_TURNS = 2000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const ENTRY_BYTES = 512;
/**
 * Another process may still be writing an answer that its caller already references: number of tries and their
 * distance.
 */
const LOOK_UPS = 3;
const LOOK_UP_GAP_MS = 60;
const FLUSH_TIMEOUT_MS = 5000;

/** Answers by id and owner. Writes are batched in the background; until then this process finds them in memory. */
export class StoredResponses {
  private readonly writer: BatchWriter<StoredResponse>;
  /** Answers not yet written, oldest first. */
  private readonly waiting = new Map<string, StoredResponse>();

  constructor(private readonly options: StoredResponsesOptions) {
    this.writer = new BatchWriter({
      write: (answers) => this.write(answers),
      bytesOf,
      onDrop: options.onDrop,
      everyMs: options.everyMs ?? EVERY_MS,
      maxBytes: MAX_WAITING_BYTES,
    });
  }

  /** False without storage. */
  get enabled(): boolean {
    return this.options.retentionMs > 0;
  }

  /** Stores the answer: this process finds it at once, others after the write. */
  keep(answer: GivenResponse): void {
    if (!this.enabled) return;
    const createdAtMs = this.options.nowMs();
    const whole = { ...answer, createdAtMs, expiresAtMs: createdAtMs + this.options.retentionMs };
    const before = this.writer.size;
    this.writer.add(whole);
    if (this.writer.size > before) this.waiting.set(whole.id, whole);
  }

  /**
   * The answer's conversation, oldest turn first; undefined if unknown, expired or foreign. Throws `request_too_large`
   * if too long, `conflict` if the reader lacks an earlier turn.
   */
  async readConversation(reader: AnswerReader, id: string): Promise<readonly StoredTurn[] | undefined> {
    const turns: StoredTurn[] = [];
    let next: string | undefined = id;
    for (let at = this.find(reader, next); at !== undefined; at = this.find(reader, next)) {
      turns.push(at);
      next = at.previousId;
      if (next === undefined) break;
    }
    if (next !== undefined) {
      const isTarget = turns.length === 0;
      const stored: readonly StoredTurn[] = await this.lookUp(isTarget, () => this.readStored(reader, next as string));
      if (isTarget && stored.length === 0) return undefined;
      turns.push(...stored);
    }
    const whole: StoredTurn[] = [];
    for (const turn of turns) whole.push(await unpackTurn(turn, reader.room));
    this.checkWhole(whole);
    return whole.reverse();
  }

  /** One answer without its earlier turns; undefined if unknown, expired or foreign. */
  async readAnswer(reader: AnswerReader, id: string): Promise<StoredTurn | undefined> {
    const here = this.find(reader, id);
    if (here !== undefined) return unpackTurn(here, reader.room);
    const { store, nowMs } = this.options;
    const limits = { nowMs: nowMs(), maxTurns: 1, maxBytes: 0 };
    const [found] = await this.lookUp(true, () => store.readConversation(reader, id, limits));
    return found && unpackTurn(found, reader.room);
  }

  /** Stored answers with these items, as JSON texts, newest first. */
  async findByItems(reader: AnswerReader, itemIds: readonly string[]): Promise<readonly string[]> {
    const wanted = new Set(itemIds);
    const here = [...this.waiting.values()].reverse().filter((one) => mayRead(reader, one) && holds(one, wanted));
    const found = here.map(({ answer }) => answer);
    for (const { itemIds: ids } of here) for (const id of ids) wanted.delete(id);
    const { store, nowMs } = this.options;
    const stored =
      wanted.size === 0 ? [] : await this.lookUp(true, () => store.findByItems(reader, [...wanted], nowMs()));
    return Promise.all([...found, ...stored].map((text) => unpackText(text, reader.room)));
  }

  /** False without one. Later turns of the conversation can't be continued any more. */
  async remove(reader: AnswerReader, id: string): Promise<boolean> {
    if (this.find(reader, id) !== undefined) await this.writer.flush(FLUSH_TIMEOUT_MS);
    const { store, nowMs } = this.options;
    return await orUnavailable(store.remove(reader, id, nowMs()));
  }

  /** Waits for pending writes, at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<void> {
    return this.writer.flush(timeoutMs);
  }

  stop(): void {
    this.writer.stop();
  }

  private async write(answers: readonly StoredResponse[]): Promise<void> {
    try {
      await this.options.store.write(answers);
    } catch (error) {
      // A permanent refusal counts only for a single record; a batch retries.
      if (!(error instanceof RecordsRejectedError) || answers.length > 1) throw error;
      this.waiting.delete(answers[0]?.id ?? '');
      throw error;
    }
    for (const { id } of answers) this.waiting.delete(id);
  }

  private find(reader: AnswerReader, id: string): StoredResponse | undefined {
    const found = this.waiting.get(id);
    return found !== undefined && mayRead(reader, found) ? found : undefined;
  }

  private readStored(reader: AnswerReader, id: string): Promise<readonly StoredTurn[]> {
    const { store, nowMs, maxBytes } = this.options;
    return store.readConversation(reader, id, { nowMs: nowMs(), maxTurns: MAX_TURNS, maxBytes });
  }

  private async lookUp<T>(retry: boolean, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    for (let left = retry ? LOOK_UPS : 1; ; left--) {
      const found = await orUnavailable(read());
      if (found.length > 0 || left === 1) return found;
      await (this.options.sleep ?? Bun.sleep)(LOOK_UP_GAP_MS);
    }
  }

  private checkWhole(turns: readonly StoredTurn[]): void {
    if (turns.at(-1)?.previousId === undefined) return;
    const bytes = turns.reduce((sum, turn) => sum + turn.input.length + turn.answer.length, 0);
    if (turns.length >= MAX_TURNS || bytes >= this.options.maxBytes) {
      throw new GatewayError('request_too_large', 'The stored conversation is too long to continue. Start a new one.');
    }
    throw new GatewayError(
      'conflict',
      'An earlier response of this conversation was deleted or belongs to another key. Send the whole input.',
    );
  }
}

/** The texts of a turn, of which large ones are compressed. */
export async function unpackTurn(turn: StoredTurn, room: UnpackRoom | undefined): Promise<StoredTurn> {
  const [input, answer] = [await unpackText(turn.input, room), await unpackText(turn.answer, room)];
  return input === turn.input && answer === turn.answer ? turn : { ...turn, input, answer };
}

const mayRead = (reader: AnswerReader, { projectId, apiKeyId, customerId }: AnswerOwner): boolean =>
  projectId === reader.projectId &&
  (reader.isShared || (apiKeyId === reader.apiKeyId && customerId === reader.customerId));

const bytesOf = (answer: StoredResponse): number => 2 * (answer.input.length + answer.answer.length) + ENTRY_BYTES;

const holds = (answer: StoredResponse, wanted: ReadonlySet<string>): boolean =>
  answer.itemIds.some((id) => wanted.has(id));

async function orUnavailable<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (cause) {
    throw new GatewayError('store_unavailable', 'Stored responses are unreachable. Retry shortly.', {
      retryAfterMs: 1000,
      cause,
    });
  }
}
