import type { AnswerOwner, AnswerReader } from '@llm0/core/conversations/stored-responses';
import type { Principal } from '@llm0/core/keys/api-key';
import type { RequestContext } from '../request/open-context';

/** Whose the answer to a request is. */
export const ownerOf = ({ customerId }: RequestContext, { key, project }: Principal): AnswerOwner => ({
  projectId: project.id,
  apiKeyId: key.id,
  customerId,
});

/** Who asks for kept answers. */
export const readerOf = (ctx: RequestContext, principal: Principal): AnswerReader => ({
  ...ownerOf(ctx, principal),
  isShared: principal.project.shareResponses,
});
