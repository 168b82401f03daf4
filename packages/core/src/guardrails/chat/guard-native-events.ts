import { isObject, type JsonValue } from '../../chat/json';
import type { RequestGuard } from '../request-guard';
import { guardNativeAnswer } from './guard-native';
import { withoutTokens } from './guard-response';
import { GuardedTexts } from './guard-texts';
import { JudgedPieces } from './string-tree';
import { isSealedText, isSealing } from './unread-fields';
import { isKnownChoice } from './vocabulary';

/** Text fields of stream events; all others are identifiers or vendors' own. */
const SAID: Readonly<Record<string, 'text' | 'json'>> = {
  ...{ content: 'text', text: 'text', delta: 'text', thinking: 'text', reasoning_content: 'text', reasoning: 'text' },
  ...{ refusal: 'text', transcript: 'text', code: 'text', output: 'text', arguments: 'json', partial_json: 'json' },
};
/** Fields that distinguish the events of different texts. */
const PLACES = ['index', 'output_index', 'content_index', 'item_id', 'summary_index', 'thought'] as const;

interface Piece {
  readonly holder: Record<string, JsonValue>;
  readonly name: string;
  readonly text: string;
}

/** Strings at the same position of consecutive events. */
interface Stream {
  /** Field of the strings. */
  readonly name: string;
  readonly kind: 'text' | 'arguments' | 'other';
  readonly pieces: Piece[];
}

/**
 * Judges a whole native stream: joins pieces of any field, and texts across blocks; a changed text moves to its first
 * piece. Modifies `events` and returns true if any changed.
 */
export async function guardNativeEvents(guard: RequestGuard, events: readonly JsonValue[]): Promise<boolean> {
  const pieces = new JudgedPieces();
  const texts = new GuardedTexts(guard, 'output', pieces);
  const changes = [leaveTokensOut(guard, events)];
  const streams = new Map<string, Stream>();
  for (const event of events) gather(event, '', streams);
  const all = [...streams.values()];
  for (const stream of all.filter(({ kind }) => kind !== 'other'))
    for (const { holder, name } of stream.pieces) pieces.add(holder, name);
  for (const stream of all.filter(({ kind }) => kind === 'arguments')) {
    const judged = await texts.json(saidBy(stream), 'tool_arguments');
    changes.push(write(stream, guard.restore(judged, 'json'), texts));
  }
  for (const neighbours of Map.groupBy(
    all.filter(({ kind }) => kind === 'text'),
    ({ name }) => name,
  ).values()) {
    const judged = await texts.texts(neighbours.map(saidBy), 'assistant');
    for (const [index, stream] of neighbours.entries())
      changes.push(write(stream, guard.restore(judged[index] ?? ''), texts));
  }
  for (const stream of all.filter(isInPieces)) {
    const said = saidBy(stream);
    if (isSealing(stream.name) && isSealedText(said)) continue;
    changes.push(write(stream, guard.restore(await texts.id(said)), texts));
  }
  for (const [index, event] of events.entries()) {
    const judged = await guardNativeAnswer(guard, event, texts);
    changes.push(judged !== event);
    (events as JsonValue[])[index] = judged;
  }
  return changes.includes(true);
}

/** Gives true where any event had some. */
function leaveTokensOut({ guardrails }: RequestGuard, events: readonly JsonValue[]): boolean {
  if (!guardrails.acts || !guardrails.asksOutput) return false;
  let changed = false;
  for (const [index, event] of events.entries()) {
    const left = withoutTokens(event);
    changed ||= left !== event;
    (events as JsonValue[])[index] = left;
  }
  return changed;
}

const saidBy = ({ pieces }: Stream): string => pieces.map(({ text }) => text).join('');

/** Fields with the same value in each event are single texts. */
const isInPieces = ({ kind, pieces }: Stream): boolean =>
  kind === 'other' && pieces.some(({ text }) => text !== pieces[0]?.text);

/** True if the text must replace its pieces. */
function write(stream: Stream, given: string, texts: GuardedTexts): boolean {
  if (given === saidBy(stream)) {
    for (const { text } of stream.pieces) texts.noteWatched(text);
    return false;
  }
  for (const [index, { holder, name }] of stream.pieces.entries()) holder[name] = index === 0 ? given : '';
  // With pseudonyms restored, the text is the caller's own.
  texts.note(given, given);
  return true;
}

function gather(value: JsonValue, place: string, streams: Map<string, Stream>): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) gather(one, `${place}.${placeOf(one, index)}`, streams);
    return;
  }
  if (!isObject(value)) return;
  const at = `${place}${PLACES.map((name) => (value[name] === undefined ? '' : `/${name}=${String(value[name])}`)).join('')}`;
  const type = typeof value.type === 'string' ? `(${value.type.replace(/_delta$/, '')})` : '';
  for (const [name, one] of Object.entries(value)) {
    // A block may begin with a text that its deltas continue.
    if (typeof one !== 'string') gather(one, `${at}.${name === 'content_block' ? 'delta' : name}`, streams);
    else if (one !== '' && !isKnownChoice(name, one)) {
      const said = Object.hasOwn(SAID, name) ? SAID[name] : undefined;
      // Identifiers of all types at a place count as one sequence.
      const key = said === undefined ? `${place.replace(/[/=\d][^.]*/g, '')}.${name}` : `${at}${type}.${name}`;
      const isArguments = said === 'json' || key.includes('function_call_arguments');
      const kind = said === undefined ? 'other' : isArguments ? 'arguments' : 'text';
      const stream = streams.get(key) ?? { name, kind, pieces: [] };
      stream.pieces.push({ holder: value, name, text: one });
      streams.set(key, stream);
    }
  }
}

const placeOf = (value: JsonValue, index: number): string =>
  isObject(value) && typeof value.index === 'number' ? String(value.index) : String(index);
