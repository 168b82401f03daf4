import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';

/** An admitted request's bodies for LOG_BODIES. `request`: any JSON; `response`: JSON text. */
export function givenBodies(
  { ctx, admission }: { readonly ctx: RequestContext; readonly admission: Admission<unknown, unknown> },
  request: unknown,
  response?: string,
): GivenBodies {
  const { principal, decision } = admission;
  const projectId = principal.project.id;
  return { requestId: ctx.requestId, projectId, createdAtMs: decision.nowMs, request, response };
}
