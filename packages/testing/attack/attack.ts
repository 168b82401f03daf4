import type { HostileAnswer, HostileUpstream } from './hostile-upstream';
import type { Sender } from './send';

/** Settings a gateway is started with; attacks name those they are played on. */
export const PROFILES = {
  plain: {},
  bodies: { LOG_BODIES: 'true' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;
export type Profile = keyof typeof PROFILES;

export interface AttackKey {
  readonly projectId: string;
  readonly keyId: string;
  readonly apiKey: string;
}

export interface AttackContext {
  readonly key: AttackKey;
  readonly upstream: HostileUpstream;
  readonly send: Sender;
  readonly gateway: { readonly url: string; readonly adminToken: string };
  /** From 0 to 1, by the run's seed. */
  random(): number;
}

/** One hostile input. A row of a table: what is sent, what the vendor answers, and what it may come to. */
export interface Attack {
  readonly name: string;
  /** Default: `plain` alone. */
  readonly profiles?: readonly Profile[];
  /** Requests a minute that the key may send; default 1, as a stranger's. */
  readonly perMinute?: number;
  readonly project?: Readonly<Record<string, unknown>>;
  readonly keySettings?: Readonly<Record<string, unknown>>;
  /** Made when it is played, as some are large. Default: an honest vendor. */
  readonly answer?: () => HostileAnswer;
  /** Takes seconds: left out of a short run. */
  readonly isLong?: true;
  /** Plays it; tells what was got that should not be had, beside what holds for all. */
  play(context: AttackContext): Promise<string | undefined> | Promise<void>;
}
