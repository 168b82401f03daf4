import { countOf } from '../../format/format-number';
import type { Manager } from './use-managed';

/** The chosen ones that files manage, and the others. */
export function splitManaged<T>(
  of: readonly T[],
  idOf: (one: T) => string,
  managers: ReadonlyMap<string, readonly Manager[]>,
): { readonly managed: readonly T[]; readonly free: readonly T[] } {
  const isManaged = (one: T) => managers.has(idOf(one));
  return { managed: of.filter(isManaged), free: of.filter((one) => !isManaged(one)) };
}

/** One entry for each file, with its latest apply. */
export function filesOf(managers: readonly Manager[]): readonly Manager[] {
  const latest = new Map<string, Manager>();
  for (const one of managers) {
    const known = latest.get(one.apply_name);
    if (known !== undefined && Date.parse(known.applied_at) >= Date.parse(one.applied_at)) continue;
    latest.set(one.apply_name, { ...one, changed_at: null, changed_by: null });
  }
  return [...latest.values()];
}

const SHOWN = 3;

/** Example: `2 of 3 keys are managed and stay unchanged until you unlock them: web, cli.` */
export function describeManaged(
  names: readonly string[],
  { all, noun, isUnlocked }: { readonly all: number; readonly noun: string; readonly isUnlocked: boolean },
): string {
  const one =
    all === 1 ? `This ${noun} is` : `${names.length} of ${countOf(all, noun)} ${names.length === 1 ? 'is' : 'are'}`;
  const locked = isUnlocked
    ? ''
    : ` and ${names.length === 1 ? 'stays' : 'stay'} unchanged until you unlock ${names.length === 1 ? 'it' : 'them'}`;
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `${one} managed${locked}: ${names.slice(0, SHOWN).join(', ')}${more}.`;
}
