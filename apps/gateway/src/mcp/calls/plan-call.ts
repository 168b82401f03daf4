import { GatewayError } from '@llm0/core/errors/gateway-error';
import { labelsOf, type Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import type { AdmitInput, Planner } from '../../pipeline/exchange/admit';
import type { Exchange } from '../../pipeline/exchange/open-exchange';
import type { PricedServer } from '../parts';

/** One call, as limits and log see it. */
export interface CallJob {
  /** What limits of single models go by: `alias__tool`. */
  readonly model: string;
  readonly tool: string;
  readonly runId: string;
  readonly bytesIn: number;
  /** As it is now: it may change between two rounds of the decision. Throws where the key may not call it any more. */
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

/** How calls pass the decision that chat passes. */
export const CALLS: Planner<CallJob, CallPlan, never> = {
  plan: (_services, input) => {
    const server = input.request.server(input.principal);
    const { pricePerCallNanoUsd } = server;
    return {
      server,
      admit: {
        model: input.request.model,
        holdNanoUsd: pricePerCallNanoUsd,
        // It may have run: where the process dies, it is paid.
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

/** Whose call it is, and of what. */
export function callOrigin(
  { exchange, principal }: Pick<AdmitInput<CallJob>, 'principal'> & { readonly exchange: Exchange },
  { tool, runId, bytesIn }: Omit<CallJob, 'server' | 'model'>,
  server: Pick<PricedServer, 'id' | 'alias'>,
) {
  const labels = labelsOf(principal, exchange.labels);
  return {
    kind: 'tool_call',
    id: exchange.requestId,
    projectId: principal.project.id,
    apiKeyId: principal.key.id,
    ...(exchange.customerId === undefined ? {} : { customerId: exchange.customerId }),
    ...(exchange.clientRequestId === undefined ? {} : { clientRequestId: exchange.clientRequestId }),
    ...(labels === undefined ? {} : { labels }),
    ...(exchange.trace === undefined ? {} : { traceId: exchange.trace.traceId, trace: exchange.trace.mark }),
    ...{ runId, serverId: server.id, server: server.alias, tool, bytesIn },
  } as const satisfies Partial<ToolCallRecord>;
}

/** What the reaper writes when this process dies; the store adds `createdAtMs`. */
function lostRecord(input: AdmitInput<CallJob>, server: PricedServer): string {
  const lost: Omit<ToolCallRecord, 'createdAtMs'> = {
    ...callOrigin(input, input.request, server),
    ...{ status: 'error', isError: true, errorCode: 'gateway_lost', durationMs: 0, bytesOut: 0 },
    errorMessage: 'The gateway process handling this call died; the call may have run, and was booked.',
    costNanoUsd: server.pricePerCallNanoUsd,
  };
  return JSON.stringify(lost);
}
