import type { AnswerOwner, AnswerReader } from '@llm0/core/conversations/stored-responses';
import type { Principal } from '@llm0/core/keys/api-key';
import type { Exchange } from '../exchange/open-exchange';

/** Whose the answer to a request is. */
export const ownerOf = ({ customerId }: Exchange, { key, project }: Principal): AnswerOwner => ({
  projectId: project.id,
  apiKeyId: key.id,
  customerId,
});

/** Who asks for kept answers. */
export const readerOf = (exchange: Exchange, principal: Principal): AnswerReader => ({
  ...ownerOf(exchange, principal),
  isShared: principal.project.shareResponses,
});
