// The hold of a batch is a reserve in the hot store: its lines hold for themselves what it gives up for them. Without the
// store nothing is drawn, and the lines are refused for the same reason.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ReserveChange } from '@llm0/core/limits/hot-store';
import { formatUsdText } from '@llm0/core/pricing/format-usd';
import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { type AdmitNeeds, admitPlanned, type Planned, type Planner } from '../pipeline/request/admit';
import { AdmissionDenied } from '../pipeline/request/denials';
import { admitPlan } from '../pipeline/request/prepared-route';
import type { Services } from '../services/contract';
import type { LineOrigin } from './line-endpoint';

/** The store keeps it so much longer than its batch: time to give it back. */
const SPARE_MS = 3_600_000;

interface Held {
  readonly id: string;
  readonly boundNanoUsd: number;
  readonly expiresAtMs: number;
}

type HeldBatch = Pick<StoredBatch, 'id' | 'projectId' | 'apiKeyId' | 'expiresAtMs'>;

interface HoldRequest {
  readonly model: string;
  readonly holdNanoUsd: number;
}

const PLANNER: Planner<HoldRequest, Planned, never> = {
  plan: (_services, input) => {
    const { holdNanoUsd } = input.request;
    const hold = { holdNanoUsd, inputNanoUsd: 0, tokens: 0 };
    const request = { ...input.request, stream: false };
    const target = { provider: 'batch', model: 'batch' };
    // A lost one costs nothing: its lines have rows of their own.
    return { admit: { ...admitPlan({ ...input, request }, { model: '', target, hold }), lostNanoUsd: 0 } };
  },
  withModel: (request) => request,
  decodeStored: () => undefined,
};

/**
 * Holds the most that a batch may cost on all budgets above it. Throws 402 if it doesn't fit. A customer's limits apply to
 * the lines alone: they are limits of single requests.
 */
export async function holdBatch(
  services: AdmitNeeds,
  { ctx, principal }: Omit<LineOrigin, 'headers'>,
  { id, boundNanoUsd, expiresAtMs }: Held,
): Promise<void> {
  if (boundNanoUsd === 0) return;
  const input = {
    ctx: { ...ctx, requestId: id, customerId: undefined },
    ...{ principal, dialect: 'openai-chat' as const },
    request: { model: 'batch', holdNanoUsd: boundNanoUsd },
  };
  await admitPlanned(services, input, PLANNER).catch((error) => nameBatch(error, boundNanoUsd));
  const owner = { projectId: principal.project.id, apiKeyId: principal.key.id };
  await services.hotStore.reserve(reserveOf({ id, expiresAtMs, ...owner }, { by: 0 }));
}

/** The reader of a refusal asked for many lines, not for one request. */
function nameBatch(error: unknown, boundNanoUsd: number): never {
  if (error instanceof AdmissionDenied) {
    error.message = error.message.replace('this request', `this batch, which may cost ${formatUsdText(boundNanoUsd)}`);
  }
  throw error;
}

const reserveOf = (
  { id, projectId, apiKeyId, expiresAtMs }: HeldBatch,
  change: ReserveChange['change'],
): ReserveChange => ({
  ...{ requestId: id, projectId, keyId: apiKeyId, change },
  untilMs: expiresAtMs + SPARE_MS,
});

/** Gives up a part of the hold, or all of it but some. False if there is none. */
export async function lowerHold(
  { hotStore, log }: Pick<Services, 'hotStore' | 'log'>,
  batch: HeldBatch,
  change: ReserveChange['change'],
): Promise<boolean> {
  try {
    return (await hotStore.reserve(reserveOf(batch, change))) !== undefined;
  } catch (err) {
    if (!(err instanceof GatewayError)) log.warn({ err, batch: batch.id }, 'the hold of a batch could not be lowered');
    return true;
  }
}
