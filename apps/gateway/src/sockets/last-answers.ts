// In memory only: a closed connection, a crowded process or a restart forgets them, and the client sends the whole input.
import {
  type AnswerReader,
  type GivenResponse,
  type KeptAnswers,
  type StoredTurn,
  unpackTurn,
} from '@llm0/core/conversations/stored-responses';

/** One line of turns within a connection. */
export interface AnswerStream {
  readonly connection: object;
  /** Its last answer, where it is remembered. */
  lastId?: string | undefined;
}

interface Conversation {
  readonly stream: AnswerStream;
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  readonly bytes: number;
}

export interface AnswerBounds {
  /** Longest conversation, in characters of JSON. */
  readonly ofOne: number;
  /** All conversations of this process. */
  readonly ofAll: number;
}

/** Last answers of open connections, stored or not, so that the next turn sends only what is new. */
export class LastAnswers {
  /** By request id, oldest first. */
  private readonly conversations = new Map<string, Conversation>();
  private bytes = 0;

  constructor(private readonly bounds: AnswerBounds) {}

  find(connection: object, id: string): readonly StoredTurn[] | undefined {
    const found = this.conversations.get(id);
    return found?.stream.connection === connection ? found.turns : undefined;
  }

  /** Replaces the stream's conversation. Without room, the oldest ones of all connections go. */
  put(stream: AnswerStream, turns: readonly StoredTurn[]): void {
    this.forget(stream);
    const id = turns.at(-1)?.id;
    const bytes = turns.reduce((sum, { input, answer }) => sum + input.length + answer.length, 0);
    if (id === undefined || bytes > this.bounds.ofOne) return;
    stream.lastId = id;
    this.conversations.set(id, { stream, turns, bytes });
    this.bytes += bytes;
    for (const { stream: oldest } of this.conversations.values()) {
      if (this.bytes <= this.bounds.ofAll) return;
      this.forget(oldest);
    }
  }

  forget(stream: AnswerStream): void {
    const { lastId } = stream;
    if (lastId === undefined) return;
    this.bytes -= this.conversations.get(lastId)?.bytes ?? 0;
    this.conversations.delete(lastId);
    stream.lastId = undefined;
  }
}

export interface TurnOptions {
  readonly last: LastAnswers;
  readonly stored: KeptAnswers;
  readonly stream: AnswerStream;
  /** Whether others than this connection may continue the answer. */
  readonly stores: boolean;
}

/** Answers as one turn of a connection sees them: its own last ones, then all stored ones. */
export class TurnAnswers implements KeptAnswers {
  private earlier: readonly StoredTurn[] = [];

  constructor(private readonly options: TurnOptions) {}

  get enabled(): boolean {
    return this.options.stored.enabled;
  }

  async readConversation(reader: AnswerReader, id: string): Promise<readonly StoredTurn[] | undefined> {
    const { last, stored, stream } = this.options;
    const own = last.find(stream.connection, id);
    const found = own === undefined ? await stored.readConversation(reader, id) : await unpackAll(own, reader.room);
    this.earlier = own ?? found ?? [];
    return found;
  }

  keep(answer: GivenResponse): void {
    const { last, stored, stream, stores } = this.options;
    last.put(stream, [...this.earlier, answer]);
    if (stores) stored.keep(answer);
  }

  readAnswer(reader: AnswerReader, id: string): Promise<StoredTurn | undefined> {
    return this.options.stored.readAnswer(reader, id);
  }

  findByItems(reader: AnswerReader, itemIds: readonly string[]): Promise<readonly string[]> {
    return this.options.stored.findByItems(reader, itemIds);
  }

  remove(reader: AnswerReader, id: string): Promise<boolean> {
    return this.options.stored.remove(reader, id);
  }
}

async function unpackAll(turns: readonly StoredTurn[], room: AnswerReader['room']): Promise<readonly StoredTurn[]> {
  const whole: StoredTurn[] = [];
  for (const turn of turns) whole.push(await unpackTurn(turn, room));
  return whole;
}
