import type { StoredAnswer } from '@llm0/core/cache/stored-answer';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { ResponseSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { RespondInput } from './respond';

/** What replays of a request with an Idempotency-Key get. */
export function storedAnswer(response: ChatResponse, summary: ResponseSummary): StoredAnswer {
  const { provider, model, usage, costNanoUsd } = summary;
  return { v: 1, provider, model, response, usage, costNanoUsd };
}

/** What LOG_BODIES keeps of an answered request. `response` is JSON text. */
export function bodiesOf({ exchange, admission }: RespondInput, response: string): GivenBodies {
  return {
    requestId: exchange.requestId,
    projectId: admission.principal.project.id,
    createdAtMs: admission.decision.nowMs,
    request: admission.plan.request.wire?.body,
    response,
  };
}

/** Keeps a complete answer for later requests, where format and caller want that. `answer`: JSON text as the caller gets it. */
export function keepForLater(
  services: Pick<Services, 'keptAnswers'>,
  { dialect, exchange, admission }: RespondInput,
  answer: string,
): void {
  const { requestId } = exchange;
  const part = dialect.keeping?.partToKeep(admission.plan.request, requestId, answer);
  if (part === undefined) return;
  services.keptAnswers.keep({ ...part, id: requestId, projectId: admission.principal.project.id, answer });
}
