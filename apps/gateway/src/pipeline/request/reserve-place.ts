import type { Held } from '@llm0/core/async/room';
import { placeLane } from '@llm0/core/routing/places/slots';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import type { Services } from '../../services/contract';
import type { AdmitInput, AdmitNeeds, Planned, Planner } from './admit';

type Needs = AdmitNeeds & Pick<Services, 'turns'>;

interface PlaceWanted<R, P> {
  readonly input: AdmitInput<R>;
  readonly planner: Pick<Planner<R, P, unknown>, 'plan'>;
  /** In which the request is the first; others are behind those that wait. */
  readonly lane: string | undefined;
}

/**
 * Reserves a place at the first provider of the route that has one. Gives the target to wait for where each of them is
 * at its limit; undefined where the request may go on.
 */
export function reservePlace<R, P extends Planned>(services: Needs, wanted: PlaceWanted<R, P>): Target | undefined {
  const { input, lane } = wanted;
  let full: Target | undefined;
  for (const target of targetsOf(services, wanted)) {
    if (target.isDrained === true) continue;
    const connected = services.connect(target, input.principal.project.id);
    if (connected?.takeSlots === undefined) return undefined;
    const own = placeLane(target.provider);
    const slots = lane !== own && services.turns.isBusy(own) ? 'full' : connected.takeSlots();
    if (slots !== 'full') {
      input.ctx.held.place = { provider: target.provider, slots };
      return undefined;
    }
    full ??= target;
  }
  return full;
}

/** Gives back what nobody used. */
export function freePlace(held: Held): void {
  held.place?.slots.end();
  held.place = undefined;
}

const NONE: readonly never[] = [];

/** A plan that throws is the decision's to refuse. */
function targetsOf<R, P extends Planned>(
  services: Needs,
  { input, planner }: PlaceWanted<R, P>,
): readonly RouteTarget[] {
  try {
    return planner.plan(services, input).route?.targets ?? NONE;
  } catch {
    return NONE;
  }
}
