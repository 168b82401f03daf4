/** Role of a turn; a tool's turn is the result of its call. */
export type Role = 'user' | 'assistant' | 'tool';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

export interface Picture {
  /** `data:` or `https:`. */
  readonly url: string;
  readonly name: string;
  /** null of one that lies elsewhere. */
  readonly bytes: number | null;
}

export interface Turn {
  readonly id: string;
  readonly role: Role;
  readonly text: string;
  readonly pictures: readonly Picture[];
  /** Assistant turns only. */
  readonly toolCalls: readonly ToolCall[];
  /** Tool turns only: the answered call. */
  readonly answers: ToolCall | null;
}

export type Turns = readonly Turn[];

let made = 0;

export function newTurn(role: Role, rest: Partial<Omit<Turn, 'id' | 'role'>> = {}): Turn {
  made += 1;
  const id = `${Date.now().toString(36)}-${made}`;
  return { id, role, text: '', pictures: [], toolCalls: [], answers: null, ...rest };
}

export const changeTurn = (turns: Turns, id: string, change: Partial<Turn>): Turns =>
  turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn));

/** Removes a turn and its tools' results; one turn remains for input. */
export function removeTurn(turns: Turns, id: string): Turns {
  const calls = new Set(turns.find((turn) => turn.id === id)?.toolCalls.map((call) => call.id));
  const left = turns.filter((turn) => turn.id !== id && !(turn.answers !== null && calls.has(turn.answers.id)));
  return left.length === 0 ? [newTurn('user')] : left;
}

/** Inserts a turn after one, with the next role. */
export function insertAfter(turns: Turns, id: string): Turns {
  const at = turns.findIndex((turn) => turn.id === id);
  const role = turns[at]?.role === 'user' ? 'assistant' : 'user';
  return turns.toSpliced(at + 1, 0, newTurn(role));
}

/** Turns to send again: all before an answer, or all up to and including another turn. */
export function turnsUpTo(turns: Turns, id: string): Turns {
  const at = turns.findIndex((turn) => turn.id === id);
  return turns.slice(0, turns[at]?.role === 'assistant' ? at : at + 1);
}

/** Place of answers among the turns: behind the last one that was asked, whatever came after it. */
export function placeOfAnswers(turns: Turns, asked: Turns): number {
  const ids = new Set(asked.map(({ id }) => id));
  const last = turns.findLastIndex(({ id }) => ids.has(id));
  return last < 0 ? turns.length : last + 1;
}

/** Without an answer behind which nothing is said yet: the request that it answers. */
export function askedTurns(turns: Turns): Turns {
  const [answer, next] = turns.slice(-2);
  const isNext = next?.role === 'user' && next.text === '' && next.pictures.length === 0;
  return isNext && answer?.role === 'assistant' ? turns.slice(0, -2) : turns;
}

export interface Said {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/** Converts an answer to a turn, followed by turns for tool results or the user. */
export function continueWith(turns: Turns, { text, toolCalls }: Said): Turns {
  const next = toolCalls.length === 0 ? [newTurn('user')] : toolCalls.map((call) => newTurn('tool', { answers: call }));
  return [...turns, newTurn('assistant', { text, toolCalls }), ...next];
}

/** True if the turn has no content. */
export const isEmptyTurn = ({ text, pictures, toolCalls }: Turn): boolean =>
  text.trim() === '' && pictures.length === 0 && toolCalls.length === 0;
