import type { AnswerOwner, AnswerReader } from '@llm0/core/conversations/stored-responses';
import type { Principal } from '@llm0/core/keys/api-key';
import type { RequestContext } from '../request/open-context';

/** Owner of an answer. */
export const ownerOf = ({ customerId }: RequestContext, { key, project }: Principal): AnswerOwner => ({
  projectId: project.id,
  apiKeyId: key.id,
  customerId,
});

/** Caller of stored answers. */
export const readerOf = (ctx: RequestContext, principal: Principal): AnswerReader => ({
  ...ownerOf(ctx, principal),
  isShared: principal.project.shareResponses,
  room: ctx.held,
});
