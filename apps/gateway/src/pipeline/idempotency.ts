// Postgres unreachable: requests with an Idempotency-Key get a 503, because running them could mean running them twice.
import type { AnswerClaim } from '@llm0/core/cache/idempotent-answers';
import type { StoredAnswer } from '@llm0/core/cache/stored-answer';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services } from '../services-type';
import type { Admission, AdmitInput } from './admit';
import { reloadPrincipal } from './authenticate';
import { planRequest } from './plan-request';

type Needs = Pick<Services, 'idempotency' | 'keyCache' | 'clock' | 'routing' | 'storeClock'>;

/** Either a claim, to be ended by this request, or the answer it has to replay. */
export interface Turn {
  readonly claim: AnswerClaim;
  readonly replay?: Admission;
}

/** Requests without the header, and replays: there is nothing to keep. */
const NO_CLAIM: AnswerClaim = { complete: () => undefined, fail: () => {}, release: () => {} };
export const NO_TURN: Turn = { claim: NO_CLAIM };

const HEADER = 'idempotency-key';
const MAX_LENGTH = 256;

export function hasIdempotencyKey(request: Request): boolean {
  return request.headers.has(HEADER);
}

/**
 * The turn of a request with an `Idempotency-Key`: waits for an identical one under way. A replay is for a key that is
 * still valid: it is loaded anew, since no admission checks it.
 */
export async function claimAnswer(services: Needs, input: AdmitInput, httpRequest: Request): Promise<Turn> {
  const { exchange, principal, request } = input;
  const turn = await services.idempotency.begin({
    apiKeyId: principal.key.id,
    key: readKey(httpRequest),
    bodyHash: Bun.CryptoHasher.hash('sha256', JSON.stringify([input.dialect, request.wire?.body ?? request]), 'hex'),
    requestId: exchange.requestId,
    signal: httpRequest.signal,
  });
  if (turn.type === 'produce') return { claim: turn.claim };
  return { claim: NO_CLAIM, replay: await admitReplay(services, input, turn.answer) };
}

/** Nothing is asked of the hot store: a replay costs nothing and consumes no limit. */
async function admitReplay(services: Needs, input: AdmitInput, stored: StoredAnswer): Promise<Admission> {
  const principal = await reloadPrincipal(services, input.principal.keyHash);
  return {
    principal,
    plan: planRequest(services, { ...input, principal }),
    decision: { type: 'replayed', nowMs: services.storeClock.nowMs() },
    downgraded: false,
    requestedModel: input.request.model,
    stored,
  };
}

function readKey(httpRequest: Request): string {
  const key = httpRequest.headers.get(HEADER)?.trim() ?? '';
  if (key !== '' && key.length <= MAX_LENGTH) return key;
  throw new GatewayError('invalid_request', `Idempotency-Key must have 1 to ${MAX_LENGTH} characters.`, {
    param: 'Idempotency-Key',
  });
}
