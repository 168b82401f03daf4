import type { Row } from '../report/rows';
import type { BenchStores, BenchWorld, StartedGateway, Target } from '../start-bench';

/** A scenario that is more than load on targets in turn. */
export interface SpecialScenario {
  readonly name: string;
  readonly what: string;
  run(world: BenchWorld): Promise<SpecialOutcome>;
}

export interface SpecialOutcome {
  readonly rows: readonly Row[];
  /** Lines for the report. */
  readonly notes: readonly string[];
}

/** Throws where the run has none: with `--url`. */
export function needGateway({ gateway }: BenchWorld, name: string): StartedGateway {
  if (gateway === undefined) throw new Error(`${name} needs a gateway started here: leave out --url`);
  return gateway;
}

/** The gateway under another name, asked with another key. */
export function targetOf({ targets }: BenchWorld, name: string, apiKey: string): Target {
  const ours = targets.find(({ kind }) => kind === 'gateway');
  if (ours === undefined) throw new Error('no gateway to measure');
  return { ...ours, name, keys: { ...ours.keys, open: apiKey } };
}

/** Throws where the run has none. */
export function needRealStores(
  world: BenchWorld,
  name: string,
): { readonly gateway: StartedGateway; readonly stores: BenchStores } {
  if (world.stores === undefined) throw new Error(`${name} needs --stores real, without --url`);
  return { gateway: needGateway(world, name), stores: world.stores };
}
