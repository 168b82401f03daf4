import type { JsonObject } from '@llm0/core/chat/json';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Services } from '../../services/contract';
import { type GuardedRequest, type GuardInput, guardKind, type JudgedKind } from './guard-input';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

/** An embedding request: each input is user text. Its answer has no text. */
export const guardEmbeddings = (
  services: Needs,
  input: GuardInput<EmbeddingRequest>,
): Promise<GuardedRequest<EmbeddingRequest> | undefined> => guardKind(services, input, EMBEDDINGS);

const EMBEDDINGS: JudgedKind<EmbeddingRequest> = { judge, textOf: ({ inputs }) => inputs };

async function judge(guard: RequestGuard, request: EmbeddingRequest): Promise<EmbeddingRequest> {
  if (!guard.guardrails.asksInput) return request;
  const texts = new GuardedTexts(guard, 'input');
  const inputs: string[] = [];
  for (const input of request.inputs) {
    if (typeof input !== 'string') {
      throw invalidRequest('input', "The guardrails of this project can't read tokens: send the input as text.");
    }
    inputs.push(await texts.text(input, 'user'));
  }
  const extra = await texts.value(request.extra as JsonObject);
  const user = request.user === undefined ? undefined : await texts.id(request.user);
  const isSame = inputs.every((input, index) => input === request.inputs[index]);
  if (isSame && extra === request.extra && user === request.user) return request;
  return { ...request, inputs, extra, ...(user === undefined ? {} : { user }) };
}
