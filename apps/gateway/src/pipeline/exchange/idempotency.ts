// Postgres unreachable: requests with an Idempotency-Key get a 503, because running them could mean running them twice.
import type { AnswerClaim, IdempotentAnswers } from '@llm0/core/cache/idempotency/idempotent-answers';
import type { StoredAnswer } from '@llm0/core/cache/stored-answer';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';
import type { Admission, AdmitInput } from './admit';
import { type Authenticated, reloadPrincipal } from './authenticate';
import type { Exchange } from './open-exchange';
import { planRequest } from './plan-request';

type Needs = Pick<Services, 'idempotency' | 'keyCache' | 'clock' | 'routing' | 'storeClock'>;

/** Either a claim, to be ended by this request, or the answer it has to replay. */
export interface Turn<A = StoredAnswer, R = Admission> {
  readonly claim: AnswerClaim<A>;
  readonly replay?: R;
}

/** Requests without the header, and replays: there is nothing to keep. */
const NO_CLAIM: AnswerClaim<never> = { complete: () => undefined, fail: () => {}, release: () => {} };
export const NO_TURN: Turn<never, never> = { claim: NO_CLAIM };

const HEADER = 'idempotency-key';
const MAX_LENGTH = 256;

export function hasIdempotencyKey(request: Request): boolean {
  return request.headers.has(HEADER);
}

/** The turn of a chat request with an `Idempotency-Key`. */
export function claimAnswer(services: Needs, input: AdmitInput, httpRequest: Request): Promise<Turn> {
  const { dialect, request } = input;
  return takeTurn(services, {
    answers: services.idempotency,
    ...{ exchange: input.exchange, principal: input.principal, httpRequest },
    identity: [dialect, request.wire?.body ?? request],
    admitReplay: (stored, principal) => ({
      principal,
      plan: planRequest(services, { ...input, principal }),
      decision: { type: 'replayed', nowMs: services.storeClock.nowMs() },
      downgraded: false,
      requestedModel: request.model,
      stored,
    }),
  });
}

export interface TurnInput<A, R> {
  readonly answers: IdempotentAnswers<A>;
  readonly exchange: Exchange;
  readonly principal: Authenticated;
  readonly httpRequest: Request;
  /** All that makes the request another one; JSON. */
  readonly identity: unknown;
  /** Nothing is asked of the hot store: a replay costs nothing and consumes no limit. */
  admitReplay(stored: A, principal: Authenticated): R;
}

/**
 * Whose turn it is: waits for an identical request under way. A replay is for a key that is still valid: it is loaded
 * anew, since no admission checks it.
 */
export async function takeTurn<A, R>(
  services: Pick<Services, 'keyCache' | 'clock'>,
  { answers, exchange, principal, httpRequest, identity, admitReplay }: TurnInput<A, R>,
): Promise<Turn<A, R>> {
  const turn = await answers.begin({
    apiKeyId: principal.key.id,
    key: readKey(httpRequest),
    bodyHash: Bun.CryptoHasher.hash('sha256', JSON.stringify(identity), 'hex'),
    requestId: exchange.requestId,
    signal: httpRequest.signal,
  });
  if (turn.type === 'produce') return { claim: turn.claim };
  return { claim: NO_CLAIM, replay: admitReplay(turn.answer, await reloadPrincipal(services, principal.keyHash)) };
}

function readKey(httpRequest: Request): string {
  const key = httpRequest.headers.get(HEADER)?.trim() ?? '';
  if (key !== '' && key.length <= MAX_LENGTH) return key;
  throw new GatewayError('invalid_request', `Idempotency-Key must have 1 to ${MAX_LENGTH} characters.`, {
    param: 'Idempotency-Key',
  });
}
