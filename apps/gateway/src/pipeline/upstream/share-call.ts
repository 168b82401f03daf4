import type { Held } from '@llm0/core/async/room';
import { untilGone } from '@llm0/core/async/until-gone';
import type { Route } from '@llm0/core/routing/resolve-targets';
import type {
  Spending,
  UpstreamCallUnderWay,
  UpstreamEffort,
  UpstreamResponse,
  UpstreamSpend,
} from '@llm0/core/upstream/upstream-response';
import type { Services } from '../../services/contract';

/** A call whose answer comes at once and is a function of the request. */
export interface WholeCalling<A> {
  readonly response: Promise<A>;
  readonly spent: () => UpstreamSpend;
}

/** One request's place on such a call, its own or another's. */
export interface SharedCalling<A> extends Spending {
  readonly response: Promise<A>;
  /** False where another request pays for the answer. Final once `response` has resolved. */
  readonly pays: () => boolean;
}

/** Other targets of a bare name may answer a request of their own, so they are part of the key. */
export function flightKey(cacheKey: string | undefined, { shared }: Route): string | undefined {
  return cacheKey === undefined || shared === undefined ? cacheKey : `${cacheKey} ${shared}`;
}

interface Shared<A> {
  /** Identical requests have the same; undefined for a call that nobody shares. */
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  /** Memory held until a call of its own ends. */
  readonly hold: () => Held;
  readonly start: (signal: AbortSignal) => WholeCalling<A>;
}

type WholeAnswer = UpstreamEffort & Pick<UpstreamResponse, 'dropped'>;

/** Joins an identical call, or starts one. The last one to leave cancels it, and pays. */
export function shareCall<A extends WholeAnswer>(
  { flights }: Pick<Services, 'flights'>,
  { key, signal, hold, start }: Shared<A>,
): SharedCalling<A> {
  if (key === undefined) return { ...start(signal), pays: () => true };
  const place = flights.join<A & UpstreamResponse>(key) ?? flights.start(key, underWay(start, hold()));
  const open = async () => {
    try {
      return await untilGone(place.flight.answer, signal, place);
    } catch (error) {
      throw place.shareOf(error);
    }
  };
  return { response: open(), spent: () => place.spent(), pays: () => place.pays() };
}

function underWay<A extends WholeAnswer>(
  start: (signal: AbortSignal) => WholeCalling<A>,
  held: Held,
): UpstreamCallUnderWay<A & UpstreamResponse> {
  const abort = new AbortController();
  const { response, spent } = start(abort.signal);
  const whole = response.then((answer) => ({ ...answer, batches: [] }));
  return { held, abort, response: whole, spent };
}
