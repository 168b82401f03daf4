import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';

/** What LOG_BODIES is given of an admitted request. `request`: any JSON; `response`: JSON text. */
export function givenBodies(
  { ctx, admission }: { readonly ctx: RequestContext; readonly admission: Admission<unknown, unknown> },
  request: unknown,
  response?: string,
): GivenBodies {
  const { principal, decision } = admission;
  const projectId = principal.project.id;
  return { requestId: ctx.requestId, projectId, createdAtMs: decision.nowMs, request, response };
}
