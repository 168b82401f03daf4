// Postgres unreachable: requests with an Idempotency-Key get a 503, because running them could mean running them twice.

import type { CachedAnswer } from '@llm0/core/cache/cached-answer';
import type { IdempotencyClaim, IdempotencyKeys } from '@llm0/core/cache/idempotency/idempotency-keys';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';
import type { Admission, AdmitInput } from './admit';
import { type Authenticated, reloadPrincipal } from './authenticate';
import { planRequest } from './plan-request';

type Needs = Pick<Services, 'idempotency' | 'keyCache' | 'clock' | 'routing' | 'storeClock'>;

/** Either a claim, to be ended by this request, or the admission of a replay. */
export interface Claimed<A = CachedAnswer, R = Admission> {
  readonly claim: IdempotencyClaim<A>;
  readonly replay?: R;
}

/** For requests without the header, and replays. */
const NO_CLAIM: IdempotencyClaim<never> = {
  isNone: true,
  complete: () => undefined,
  fail: () => {},
  release: () => {},
};
export const UNCLAIMED: Claimed<never, never> = { claim: NO_CLAIM };

export const IDEMPOTENCY_KEY = 'idempotency-key';
const MAX_LENGTH = 256;

/** The claim of a chat request with an `Idempotency-Key`. */
export function claimCompletion(services: Needs, input: AdmitInput, httpRequest: Request): Promise<Claimed> {
  const { dialect, request } = input;
  return claimOrReplay(services, {
    ...{ answers: services.idempotency, input, httpRequest },
    identity: [dialect, request.digest ?? request.wire?.body ?? request],
    planReplay: (stored, principal) => ({ stored, plan: planRequest(services, { ...input, principal }) }),
  });
}

export interface ClaimInput<A, P, S> {
  readonly answers: IdempotencyKeys<A>;
  readonly input: AdmitInput<{ readonly model: string }>;
  readonly httpRequest: Request;
  /** All that makes the request another one; JSON. */
  readonly identity: unknown;
  planReplay(answer: A, principal: Authenticated): { readonly plan: P; readonly stored?: S };
}

/**
 * Waits for an identical request under way. A replay needs a valid key, so it reloads the key: no admission checks it.
 * A replay is free and uses no limit.
 */
export async function claimOrReplay<A, P, S>(
  services: Pick<Services, 'keyCache' | 'clock' | 'storeClock'>,
  { answers, input, httpRequest, identity, planReplay }: ClaimInput<A, P, S>,
): Promise<Claimed<A, Admission<P, S>>> {
  const { ctx, principal, request } = input;
  const begun = await answers.begin({
    apiKeyId: principal.key.id,
    key: readKey(httpRequest),
    bodyHash: Bun.CryptoHasher.hash('sha256', JSON.stringify(identity), 'hex'),
    requestId: ctx.requestId,
    room: ctx.held,
    signal: httpRequest.signal,
  });
  if (begun.type === 'produce') return { claim: begun.claim };
  const reloaded = await reloadPrincipal(services, principal.keyHash);
  const replay: Admission<P, S> = {
    principal: reloaded,
    ...planReplay(begun.answer, reloaded),
    decision: { type: 'replayed', nowMs: services.storeClock.nowMs() },
    downgraded: false,
    requestedModel: request.model,
  };
  return { claim: NO_CLAIM, replay };
}

function readKey(httpRequest: Request): string {
  const key = httpRequest.headers.get(IDEMPOTENCY_KEY)?.trim() ?? '';
  if (key !== '' && key.length <= MAX_LENGTH) return key;
  throw invalidRequest('Idempotency-Key', `Idempotency-Key must have 1 to ${MAX_LENGTH} characters.`);
}
