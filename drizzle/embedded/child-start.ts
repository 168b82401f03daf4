const START_TIMEOUT_MS = 60_000;

interface Ended {
  readonly signalCode: NodeJS.Signals | number | null;
  readonly exitCode: number | null;
}

type Child = Pick<
  Bun.Subprocess<'ignore' | 'pipe', 'pipe', 'pipe'>,
  'stdout' | 'exited' | 'exitCode' | 'signalCode'
> & {
  kill(signal: 'SIGKILL'): void;
};

/** The signal or code of a child that has ended. */
export const endingOf = ({ signalCode, exitCode }: Ended): string =>
  signalCode === null ? `code ${exitCode}` : String(signalCode);

/** Throws with the reason if the child ends first. */
export async function waitForReady(child: Child, lastWords: () => string, mostMs = START_TIMEOUT_MS): Promise<void> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, mostMs);
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (!text.includes('ready')) {
      const { value, done } = await reader.read();
      if (!done) text += decoder.decode(value, { stream: true });
      else throw new Error(`embedded Postgres did not start: ${await reasonOf(child, lastWords, isLate)}`);
    }
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}

async function reasonOf(child: Child, lastWords: () => string, isLate: boolean): Promise<string> {
  if (isLate) return 'it was not ready in time';
  await child.exited;
  const why =
    child.signalCode === 'SIGKILL'
      ? '; probably the memory ran out: a first start needs 1 GiB, later ones 512 MiB'
      : '';
  return `it ended (${endingOf(child)}${why}) ${lastWords()}`.trim();
}
