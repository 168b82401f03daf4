import { test } from 'bun:test';
import { isAll } from '../lane';

/** Whether a suite with such tests has its gateway in a process of its own. */
export const runsApart = isAll;

/**
 * A test that kills or restarts a gateway, or needs several processes: each start takes more than a second of CPU.
 * `--all` runs it.
 */
export const testApart: (name: string, run: () => Promise<void>, timeoutMs?: number) => void = isAll ? test : () => {};
