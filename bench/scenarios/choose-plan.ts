import { BenchOptionError } from '../options';
import { FAMILIES, SCENARIOS, type Scenario } from './scenarios';
import type { SpecialScenario } from './special';
import { SPECIAL_SCENARIOS } from './special-scenarios';

export interface Plan {
  readonly scenarios: readonly Scenario[];
  readonly specials: readonly SpecialScenario[];
}

/** What to run, in the order of the tables; nothing named = the default ones, `all` = everything. */
export function choosePlan(names: readonly string[]): Plan {
  if (names.length === 0) return { scenarios: SCENARIOS.filter(({ isDefault }) => isDefault), specials: [] };
  if (names.includes('all')) return { scenarios: SCENARIOS, specials: SPECIAL_SCENARIOS };
  const wanted = new Set(names.flatMap((name) => FAMILIES[name] ?? [name]));
  const known = new Set([...SCENARIOS, ...SPECIAL_SCENARIOS].map(({ name }) => name));
  const unknown = [...wanted].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new BenchOptionError(`unknown scenario ${unknown.join(', ')}; --help lists them`);
  }
  return {
    scenarios: SCENARIOS.filter(({ name }) => wanted.has(name)),
    specials: SPECIAL_SCENARIOS.filter(({ name }) => wanted.has(name)),
  };
}

export function listScenarios(): string {
  const line = ({ name, what }: Pick<Scenario, 'name' | 'what'>) => `  ${name.padEnd(15)} ${what}`;
  const later = SCENARIOS.filter(({ isDefault }) => !isDefault);
  return [
    'By default:',
    ...SCENARIOS.filter(({ isDefault }) => isDefault).map(line),
    'By name, or with all:',
    ...[...later, ...SPECIAL_SCENARIOS].map(line),
  ].join('\n');
}
