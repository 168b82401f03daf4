// Postgres unreachable: requests that go on from a kept answer get a 503; all others are served.
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { AnswerKeeping, Dialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';

export interface RecallInput {
  readonly dialect: Dialect;
  readonly keeping: AnswerKeeping;
  readonly body: JsonObject;
  readonly headers: Headers;
  readonly projectId: string;
}

/** The request with all in its place that it names of its project's kept answers. Waits only where it names some. */
export async function recallConversation(
  services: Pick<Services, 'keptAnswers'>,
  { dialect, keeping, body, headers, projectId }: RecallInput,
): Promise<ChatRequest> {
  const { keptAnswers } = services;
  const given = keptAnswers.enabled ? body : keeping.withoutKeeping(body);
  const named = keeping.referencesOf(given);
  if (named === undefined) return dialect.decodeRequest(given, headers);
  const { previousId, itemIds } = named;
  const turns = previousId === undefined ? [] : await keptAnswers.readConversation(projectId, previousId);
  const answers = itemIds.length === 0 ? [] : await keptAnswers.findByItems(projectId, itemIds);
  const whole = keeping.continueFrom(given, { turns, answers });
  return { ...dialect.decodeRequest(whole.body, headers), earlierItems: whole.earlierItems };
}
