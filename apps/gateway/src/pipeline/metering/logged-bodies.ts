import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { Admission } from '../exchange/admit';
import type { Exchange } from '../exchange/open-exchange';

/** What LOG_BODIES is given of an admitted request. `request`: any JSON; `response`: JSON text. */
export function givenBodies(
  { exchange, admission }: { readonly exchange: Exchange; readonly admission: Admission<unknown, unknown> },
  request: unknown,
  response?: string,
): GivenBodies {
  const { principal, decision } = admission;
  const projectId = principal.project.id;
  return { requestId: exchange.requestId, projectId, createdAtMs: decision.nowMs, request, response };
}
