// Imports nothing but what Bun ships: it runs before anything is installed.
import { readFileSync } from 'node:fs';
import { processIdentity } from '../../../drizzle/embedded/data-dir-lock';
import { programEnvironment } from '../../../packages/core/src/threads/program-environment';

const CHECK_MS = 250;
/** `npx` runs a shell, that runs Bun's script runner, that runs this process. */
const MOST_ANCESTORS = 4;
const IS_NPM = /^npm |\bnp[mx](?:-cli(?:\.js)?)?(?:\s|$)/;

/**
 * Calls `onGone` once, when one of the programs that were typed to start this one has ended: Bun's script runner under
 * `bun start`, and `npx` above it. They pass no signal on, so their end is the signal. Returns how to stop looking.
 */
export function followStarters(onGone: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const starters = findStarters();
  const timer = setInterval(() => {
    if (starters.every(({ pid, identity }) => processIdentity(pid) === identity)) return;
    clearInterval(timer);
    onGone();
  }, CHECK_MS);
  return () => clearInterval(timer);
}

interface Starter {
  readonly pid: number;
  /** Tells it from a later process with the same id. */
  readonly identity: string | null;
}

/** The parent, and all above it up to npm's own process where there is one. */
function findStarters(): readonly Starter[] {
  const chain: Starter[] = [];
  let npmAt = 0;
  for (let pid = process.ppid; pid > 1 && chain.length < MOST_ANCESTORS; pid = parentOf(pid)) {
    chain.push({ pid, identity: processIdentity(pid) });
    if (IS_NPM.test(commandOf(pid))) npmAt = chain.length;
  }
  return chain.slice(0, Math.max(1, npmAt));
}

function parentOf(pid: number): number {
  if (process.platform !== 'linux') return Number(ask(pid, 'ppid='));
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  if (process.platform !== 'linux') return ask(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function ask(pid: number, column: string): string {
  if (Bun.which('ps') === null) return '';
  return Bun.spawnSync(['ps', '-o', column, '-p', String(pid)], { env: programEnvironment(process.env) })
    .stdout.toString()
    .trim();
}
