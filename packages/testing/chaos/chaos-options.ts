import { parseArgs } from 'node:util';

export type ChaosStores = 'real' | 'embedded';

export interface ChaosOptions {
  readonly stores: ChaosStores;
  readonly seed: number;
  readonly durationMs: number;
  /** On a busy machine things go on breaking, up to four times as long, until so many were answered. */
  readonly leastAnswers?: number;
  /** Gateway processes; the embedded stores let one in. */
  readonly replicas: number;
  /** Client loops. Each asks a few times a second. */
  readonly lanes: number;
  /** Lease of a hold: shorter than in production, so that a run ends soon. */
  readonly leaseMs: number;
  readonly say: (line: string) => void;
}

export interface ChaosCommand {
  readonly options: Omit<ChaosOptions, 'say'>;
  /** Runs one after the other, with seeds from `options.seed` on. */
  readonly runs: number;
}

export const USAGE = `bun run chaos [--minutes 1] [--seed 1] [--seeds 1] [--stores real|embedded] [--replicas 2] [--lanes 24]

Starts its own stores, fake upstream and gateways, breaks them in random order by seed, heals them and prints the ledger.
Ends with 0 only when no row is missing or doubled, counters equal the rows to the nano-dollar, and no hold is left.`;

const DEFAULT_LEASE_MS = 4_000;

/** Throws an `Error` whose message says which value is wrong. */
export function readChaosCommand(args: readonly string[]): ChaosCommand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      stores: { type: 'string', default: 'real' },
      replicas: { type: 'string' },
      lanes: { type: 'string', default: '24' },
    },
  });
  const { stores } = values;
  if (stores !== 'real' && stores !== 'embedded') throw new Error(`--stores ${stores}: real or embedded is needed`);
  const replicas = readNumber('--replicas', values.replicas ?? (stores === 'real' ? '2' : '1'), 1, 8);
  if (stores === 'embedded' && replicas > 1) throw new Error('--replicas: the embedded stores let one gateway in');
  return {
    runs: readNumber('--seeds', values.seeds, 1, 1000),
    options: {
      stores,
      replicas,
      seed: readNumber('--seed', values.seed, 0, 2 ** 31),
      durationMs: 60_000 * readNumber('--minutes', values.minutes, 0.05, 24 * 60, false),
      lanes: readNumber('--lanes', values.lanes, 1, 500),
      leaseMs: DEFAULT_LEASE_MS,
    },
  };
}

function readNumber(name: string, text: string, least: number, most: number, whole = true): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < least || value > most || (whole && !Number.isInteger(value))) {
    throw new Error(`${name} ${text}: a ${whole ? 'whole ' : ''}number from ${least} to ${most} is needed`);
  }
  return value;
}
