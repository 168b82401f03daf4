import type { JsonObject } from '@llm0/core/chat/json';
import { ERROR_TABLE, type LogStatus } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Settlement } from '@llm0/core/limits/hot-store';
import { redactText } from '@llm0/core/logs/redact';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { wasNeverSent } from '@llm0/providers/transport/upstream-failure';
import type { FoundByGuardrails } from '../../pipeline/metering/build-record';
import type { Admission } from '../../pipeline/request/admit';
import { AdmissionDenied } from '../../pipeline/request/denials';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';
import { NOT_RUN, type RpcErrorBody } from '../wire/json-rpc';
import { recordCallBodies } from './call-bodies';
import { mayHaveRun } from './may-have-run';
import { type CallJob, type CallPlan, callOrigin } from './plan-call';

type Needs = Pick<Services, 'hotStore' | 'leases' | 'clock' | 'metrics' | 'storeClock' | 'bodyLog'>;

export type CallAdmission = Admission<CallPlan, never>;

export interface BookedCall {
  readonly ctx: RequestContext;
  readonly admission: CallAdmission;
  readonly job: CallJob;
  /** The caller's parameters; stored under LOG_BODIES. */
  readonly params: JsonObject;
}

interface CallEnding {
  readonly status: LogStatus;
  readonly isError: boolean;
  readonly ran: boolean;
  readonly bytesOut: number;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

const MAX_MESSAGE_LENGTH = 500;

/** Renews the hold of one call and settles it exactly once; a call that didn't run is free. */
export class CallBooking {
  /** Resolves when the settlement outlives this process; undefined = it does already. */
  handedOver: Promise<void> | undefined;
  /** Guardrail findings of its row. */
  guard: FoundByGuardrails | undefined;
  /** Called once at the end. */
  onEnd: (() => void) | undefined;
  private settled = false;
  private isSent = false;
  private answer: string | undefined;

  constructor(
    private readonly services: Needs,
    private readonly call: BookedCall,
  ) {
    const { admission, ctx } = call;
    if (admission.decision.type === 'admitted') services.leases.add(admission.principal.project.id, ctx.requestId);
  }

  /** The call is sent and may run; false: the server refused it first. */
  noteSent(isSent: boolean): void {
    this.isSent = isSent;
  }

  /** The caller's answer as JSON before the call completes or fails; stored with LOG_BODIES. */
  noteAnswer(text: string): void {
    this.answer = text;
  }

  /** The tool answered. */
  complete({ isError, bytesOut }: { readonly isError: boolean; readonly bytesOut: number }): void {
    this.end({ status: 'success', isError, bytesOut, ran: true });
  }

  /** The server refused or failed, in the protocol's words. */
  refuse({ code, message }: RpcErrorBody, bytesOut: number): void {
    const errorMessage = redactText(message.slice(0, MAX_MESSAGE_LENGTH));
    this.end({
      status: 'error',
      isError: true,
      bytesOut,
      ran: !NOT_RUN.has(code),
      errorCode: `rpc_${code}`,
      errorMessage,
    });
  }

  /** No answer, or an unusable one. */
  fail(error: GatewayError): void {
    const { kind, message, upstreamStatus } = error;
    const isRefused = upstreamStatus !== undefined && !mayHaveRun(upstreamStatus);
    const ran = this.isSent && !isRefused && !wasNeverSent(error);
    const errorMessage = redactText(message.slice(0, MAX_MESSAGE_LENGTH));
    this.end({ status: ERROR_TABLE[kind].logStatus, isError: true, bytesOut: 0, ran, errorCode: kind, errorMessage });
  }

  private end({ ran, ...ending }: CallEnding): void {
    if (this.settled) return;
    this.settled = true;
    this.onEnd?.();
    const { ctx, admission, job } = this.call;
    const { principal, decision, plan } = admission;
    const costNanoUsd = ran ? plan.server.pricePerCallNanoUsd : 0;
    this.services.leases.remove(ctx.requestId, admission.principal.key.id);
    const record: ToolCallRecord = {
      ...callOrigin({ ctx, principal }, job, plan.server),
      ...ending,
      createdAtMs: decision.nowMs,
      durationMs: this.services.clock.monotonicMs() - ctx.startMs,
      costNanoUsd,
      guardrails: this.guard?.list(),
    };
    const held = decision.type === 'admitted';
    this.handedOver = settleCall(this.services, record, { held, levels: principal.levels });
    recordCallBodies(this.services, { ...record, params: this.call.params, answer: this.answer });
    this.answer = undefined;
  }
}

/** Queues a call's row and books it. Resolves (undefined: at once) when it is durable. */
export function settleCall(
  services: Pick<Services, 'hotStore' | 'metrics'>,
  record: ToolCallRecord,
  { held, levels }: Pick<Settlement, 'held' | 'levels'>,
): Promise<void> | undefined {
  services.metrics.observeToolCall(record);
  return services.hotStore.settle({
    requestId: record.id,
    projectId: record.projectId,
    keyId: record.apiKeyId,
    customerId: record.customerId,
    admittedAtMs: record.createdAtMs,
    held,
    costNanoUsd: record.costNanoUsd,
    tokens: 0,
    record: JSON.stringify(record),
    levels,
  });
}

export interface RefusedCall extends Pick<BookedCall, 'ctx' | 'job' | 'params'> {
  readonly principal: CallAdmission['principal'];
  readonly server: { readonly id: string; readonly alias: string };
  readonly error: GatewayError;
}

/** Writes the row of a call refused before admission; books nothing. */
export async function recordRefusedCall(
  services: Needs,
  { ctx, principal, job, params, server, error }: RefusedCall,
): Promise<void> {
  const createdAtMs = error instanceof AdmissionDenied ? error.nowMs : services.storeClock.nowMs();
  const record: ToolCallRecord = {
    ...callOrigin({ ctx, principal }, job, server),
    ...{ status: ERROR_TABLE[error.kind].logStatus, isError: true, bytesOut: 0, costNanoUsd: 0, createdAtMs },
    durationMs: services.clock.monotonicMs() - ctx.startMs,
    errorCode: error.kind,
    errorMessage: redactText(error.message.slice(0, MAX_MESSAGE_LENGTH)),
  };
  await settleCall(services, record, { held: false });
  recordCallBodies(services, { ...record, params });
}
