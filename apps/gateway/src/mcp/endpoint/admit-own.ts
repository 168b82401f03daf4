import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { Planner } from '../../pipeline/request/admit';
import { admitInRun } from '../../pipeline/request/admit-run';
import type { Authenticated } from '../../pipeline/request/authenticate';
import type { Services } from '../../services/contract';
import type { McpRequest } from './mcp-request';

/** Plans the gateway's own answers: they count as requests and are free. */
const OWN: Planner<{ readonly model: string }, { readonly admit: AdmitPlan }, true> = {
  plan: (_services, { request: { model } }) => ({
    admit: { model, holdNanoUsd: 0, lostNanoUsd: 0, tokens: 0, lostRecord: '', isAnswered: true },
  }),
  withModel: (request) => request,
  decodeStored: () => true,
};

/** The current key and project by the decision. Throws if denied. */
export async function admitOwn(
  services: Services,
  { ctx, principal }: Pick<McpRequest, 'ctx' | 'principal'>,
  method: string,
): Promise<Authenticated> {
  const input = { ctx, principal, dialect: 'passthrough', request: { model: `mcp:${method}` } } as const;
  return (await admitInRun(services, input, OWN)).principal;
}
