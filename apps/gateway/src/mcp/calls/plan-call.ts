import { GatewayError } from '@llm0/core/errors/gateway-error';
import { labelsOf, type Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import type { AdmitInput, Planner } from '../../pipeline/request/admit';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { PricedServer } from '../parts';

/** One call, as limits and log see it. */
export interface CallJob {
  /** Name for per-model limits: `alias__tool`. */
  readonly model: string;
  readonly tool: string;
  readonly runId: string;
  readonly bytesIn: number;
  /** Current server: it may change between two rounds of the decision. Throws if the key lost access. */
  readonly server: (principal: Principal) => PricedServer;
}

export interface CallPlan {
  readonly admit: AdmitPlan;
  readonly server: PricedServer;
}

export const callJob = ({ alias, ...job }: Omit<CallJob, 'model'> & { readonly alias: string }): CallJob => ({
  ...job,
  model: joinToolName(alias, job.tool),
});

/** Plans tool calls for the same decision as chat. */
export const CALLS: Planner<CallJob, CallPlan, never> = {
  plan: (_services, input) => {
    const server = input.request.server(input.principal);
    const { pricePerCallNanoUsd } = server;
    return {
      server,
      admit: {
        model: input.request.model,
        holdNanoUsd: pricePerCallNanoUsd,
        // It may have run, so a crash charges it.
        lostNanoUsd: pricePerCallNanoUsd,
        tokens: 0,
        isAbsolute: input.principal.project.strictCaps,
        lostRecord: lostRecord(input, server),
      },
    };
  },
  withModel: () => {
    const message = "This customer reached its spend limit. A tool call can't be downgraded.";
    throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
  },
  decodeStored: () => undefined,
};

/** Caller and tool of a call. */
export function callOrigin(
  { ctx, principal }: Pick<AdmitInput<CallJob>, 'principal'> & { readonly ctx: RequestContext },
  { tool, runId, bytesIn }: Omit<CallJob, 'server' | 'model'>,
  server: Pick<PricedServer, 'id' | 'alias'>,
) {
  const labels = labelsOf(principal, ctx.labels);
  return {
    kind: 'tool_call',
    id: ctx.requestId,
    projectId: principal.project.id,
    apiKeyId: principal.key.id,
    ...(ctx.customerId === undefined ? {} : { customerId: ctx.customerId }),
    ...(ctx.clientRequestId === undefined ? {} : { clientRequestId: ctx.clientRequestId }),
    ...(labels === undefined ? {} : { labels }),
    ...(ctx.trace === undefined ? {} : { traceId: ctx.trace.traceId, trace: ctx.trace.mark }),
    ...{ runId, serverId: server.id, server: server.alias, tool, bytesIn },
  } as const satisfies Partial<ToolCallRecord>;
}

/** Row for the reaper if this process dies; the store sets `createdAtMs`. */
function lostRecord(input: AdmitInput<CallJob>, server: PricedServer): string {
  const lost: Omit<ToolCallRecord, 'createdAtMs'> = {
    ...callOrigin(input, input.request, server),
    ...{ status: 'error', isError: true, errorCode: 'gateway_lost', durationMs: 0, bytesOut: 0 },
    errorMessage: 'The gateway process handling this call died; the call may have run, and was booked.',
    costNanoUsd: server.pricePerCallNanoUsd,
  };
  return JSON.stringify(lost);
}
