import { parseArgs } from 'node:util';

export interface AttackOptions {
  readonly stores: 'real' | 'embedded';
  readonly seed: number;
  /** Only attacks with one of these, separated by commas, in their name. */
  readonly only: string | undefined;
  /** Leaves out what takes seconds. */
  readonly short: boolean;
  readonly say: (line: string) => void;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** The first case: one finding is repeated by its number. */
  readonly from: number;
}

export type AttackCommand =
  | { readonly kind: 'attacks'; readonly options: Omit<AttackOptions, 'say'> }
  | { readonly kind: 'fuzz'; readonly options: FuzzOptions };

export const USAGE = `bun run attack [--only name,name] [--stores embedded|real] [--short] [--seed 1]
bun run attack --fuzz 1000000 [--seed 1] [--from 0]

Starts a gateway and a hostile vendor, plays every hostile input with one key, and prints for each the statuses, the worst
/livez, memory, and what was booked against what the vendor bills. --fuzz sends malformed requests instead; a seed and a number
repeat each. Ends with 0 only when every law held.`;

const MOST = 2 ** 31;

/** Throws an `Error` whose message says which value is wrong. */
export function readAttackCommand(args: readonly string[]): AttackCommand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      stores: { type: 'string', default: 'embedded' },
      short: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      fuzz: { type: 'string' },
      from: { type: 'string', default: '0' },
    },
  });
  const { stores, only, short } = values;
  if (stores !== 'real' && stores !== 'embedded') throw new Error(`--stores ${stores}: real or embedded is needed`);
  const seed = readWhole('--seed', values.seed, 0);
  if (values.fuzz === undefined) return { kind: 'attacks', options: { stores, only, short, seed } };
  const [count, from] = [readWhole('--fuzz', values.fuzz, 1), readWhole('--from', values.from, 0)];
  return { kind: 'fuzz', options: { seed, count, from } };
}

function readWhole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > MOST) {
    throw new Error(`${name} ${text}: a whole number from ${least} to ${MOST} is needed`);
  }
  return value;
}
