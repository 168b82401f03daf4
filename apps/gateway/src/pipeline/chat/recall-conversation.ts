// Postgres unreachable: requests that go on from a kept answer get a 503; all others are served.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { KeptTurn } from '@llm0/core/conversations/kept-answers';
import type { AnswerKeeping, Dialect, ReadTurn } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { type Authenticated, latestPrincipal } from '../exchange/load-principal';
import type { Exchange } from '../exchange/open-exchange';
import { readerOf } from './answer-owner';

export interface RecallInput {
  readonly dialect: Dialect;
  readonly keeping: AnswerKeeping;
  readonly body: JsonObject;
  readonly headers: Headers;
  readonly exchange: Exchange;
  readonly principal: Authenticated;
}

export interface Recalled {
  readonly request: ChatRequest;
  /** What was recalled makes it large, whatever the request itself is. */
  readonly isLarge: boolean;
}

/** The request with all in its place that it names of kept answers. Waits only where it names some. */
export async function recallConversation(
  services: Pick<Services, 'keptAnswers' | 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>,
  { dialect, keeping, body, headers, exchange, principal }: RecallInput,
): Promise<Recalled> {
  const { keptAnswers } = services;
  const given = keptAnswers.enabled ? body : keeping.withoutKeeping(body);
  const named = keeping.referencesOf(given);
  if (named === undefined) return { request: dialect.decodeRequest(given, headers), isLarge: false };
  const { previousId, itemIds } = named;
  // Who may read them now: the decision that notices changes comes later.
  const reader = readerOf(exchange, await latestPrincipal(services, principal));
  const turns = previousId === undefined ? [] : await keptAnswers.readConversation(reader, previousId);
  const answers = itemIds.length === 0 ? [] : await keptAnswers.findByItems(reader, itemIds);
  const length = [...(turns ?? []).flatMap(textsOf), ...answers].reduce((sum, text) => sum + text.length, 0);
  const whole = keeping.continueFrom(given, {
    turns: turns && (await readTurns(turns)),
    answers: await readAll(answers),
  });
  const request = { ...dialect.decodeRequest(whole.body, headers), earlierItems: whole.earlierItems };
  return { request, isLarge: length > LARGE_JSON_LENGTH };
}

const textsOf = ({ input, answer }: KeptTurn) => [input, answer];

/** What was kept, parsed in turns where it is large. */
export async function readTurns(turns: readonly KeptTurn[]): Promise<readonly ReadTurn[]> {
  const read: ReadTurn[] = [];
  for (const { input, answer } of turns) {
    read.push({ input: await parseJsonInSlices(input), answer: await parseJsonInSlices(answer) });
  }
  return read;
}

async function readAll(texts: readonly string[]): Promise<JsonValue[]> {
  const values: JsonValue[] = [];
  for (const text of texts) values.push(await parseJsonInSlices(text));
  return values;
}
