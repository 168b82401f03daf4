import type { PassedOver, Route, RouteTarget } from './routing-tables';

/** The route without the targets that have a reason against them; undefined if none is left. */
export function passOver(
  route: Route,
  reasonOf: (target: RouteTarget) => PassedOver['reason'] | undefined,
): Route | undefined {
  const reasons = new Map(route.targets.map((target) => [target, reasonOf(target)]));
  const [first, ...rest] = route.targets.filter((target) => reasons.get(target) === undefined);
  if (first === undefined) return undefined;
  const start = route.targets.indexOf(first);
  const skipped = (from: number, to?: number) =>
    route.targets.slice(from, to).flatMap((target): readonly PassedOver[] => {
      const reason = reasons.get(target);
      return reason === undefined ? [] : [{ target, reason }];
    });
  const passedOver = [...(route.passedOver ?? []), ...skipped(0, start)];
  const unfit = [...(route.unfit ?? []), ...skipped(start)];
  return {
    ...{ ...route, targets: [first, ...rest] },
    ...(passedOver.length === 0 ? {} : { passedOver }),
    ...(unfit.length === 0 ? {} : { unfit }),
  };
}
