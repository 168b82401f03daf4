// Without Postgres, requests that continue a stored answer get a 503; others work.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { StoredTurn } from '@llm0/core/conversations/stored-responses';
import type { AnswerReferences, Dialect, ReadTurn, ResponseStorage } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { type Authenticated, latestPrincipal } from '../request/authenticate';
import type { RequestContext } from '../request/open-context';
import { readerOf } from './answer-owner';

type Needs = Pick<Services, 'storedResponses' | 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

export interface ConversationInput {
  readonly responseStorage: ResponseStorage;
  readonly body: JsonObject;
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
}

export interface LoadedConversation {
  readonly request: ChatRequest;
  /** A large stored conversation makes the request large. */
  readonly isLarge: boolean;
}

/** Resolves the request's references to stored answers. Waits only if it has some. */
export async function loadConversation(
  services: Needs,
  input: ConversationInput & { readonly dialect: Dialect; readonly headers: Headers },
): Promise<LoadedConversation> {
  const { dialect, responseStorage, headers } = input;
  const body = storableBody(services, input);
  const named = responseStorage.referencesOf(body);
  if (named === undefined) return { request: dialect.decodeRequest(body, headers), isLarge: false };
  const whole = await continueBody(services, { ...input, body }, named);
  const request = { ...dialect.decodeRequest(whole.body, headers), earlierItems: whole.earlierItems };
  return { request, isLarge: whole.isLarge };
}

/** The body, which asks for no storage where there is none. */
export function storableBody(
  { storedResponses }: Pick<Services, 'storedResponses'>,
  { responseStorage, body }: Pick<ConversationInput, 'responseStorage' | 'body'>,
): JsonObject {
  return storedResponses.enabled ? body : responseStorage.withoutStorage(body);
}

/** A body with its references resolved. */
export interface ContinuedBody {
  readonly body: JsonObject;
  readonly earlierItems: number;
  readonly isLarge: boolean;
}

/** Puts the items of earlier turns first. Throws for unknown references. */
export async function continueBody(
  services: Needs,
  { responseStorage, body, ctx, principal }: ConversationInput,
  { previousId, itemIds }: AnswerReferences,
): Promise<ContinuedBody> {
  const { storedResponses } = services;
  // Reads the current access rights; the decision notices changes only later.
  const reader = readerOf(ctx, await latestPrincipal(services, principal));
  const turns = previousId === undefined ? [] : await storedResponses.readConversation(reader, previousId);
  const answers = itemIds.length === 0 ? [] : await storedResponses.findByItems(reader, itemIds);
  const length = [...(turns ?? []).flatMap(textsOf), ...answers].reduce((sum, text) => sum + text.length, 0);
  const whole = responseStorage.continueFrom(body, {
    turns: turns && (await readTurns(turns)),
    answers: await readAll(answers),
  });
  return { ...whole, isLarge: length > LARGE_JSON_LENGTH };
}

const textsOf = ({ input, answer }: StoredTurn) => [input, answer];

/** Stored value, parsed in slices if large. */
export async function readTurns(turns: readonly StoredTurn[]): Promise<readonly ReadTurn[]> {
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
