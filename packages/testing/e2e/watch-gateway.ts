import { join } from 'node:path';
import type { GatewayProcess } from '../stores/start-gateway';

/** What a gateway showed while something was done to it. */
export interface Watched {
  /** Longest answer time of `/livez`, in milliseconds, as seen by a thread that does nothing else. */
  readonly livezMs: number;
  /** The most memory it took above what it had before, in MiB. */
  readonly grewMib: number;
}

/** Asks `/livez` again and again while `run` is under way. */
export async function watchGateway(gateway: GatewayProcess, run: () => Promise<void>): Promise<Watched> {
  const beforeMib = await memoryMib(gateway);
  let mostMib = beforeMib;
  const sampler = setInterval(async () => {
    mostMib = Math.max(mostMib, await memoryMib(gateway));
  }, 20);
  const thread = new Worker(URL.createObjectURL(new Blob([WATCH], { type: 'text/javascript' })));
  const told = new Promise<number>((resolve) => {
    thread.onmessage = ({ data }) => resolve(data as number);
  });
  thread.postMessage(`${gateway.url}/livez`);
  try {
    await run();
  } finally {
    clearInterval(sampler);
    thread.postMessage('stop');
  }
  const livezMs = await told;
  thread.terminate();
  return { livezMs, grewMib: mostMib - beforeMib };
}

/** Resident memory of the process, in MiB. */
export async function memoryMib({ pid }: Pick<GatewayProcess, 'pid'>): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const WATCH = `
  let worst = 0, on = true;
  self.onmessage = async ({ data }) => {
    if (data === 'stop') { on = false; return; }
    while (on) {
      const start = performance.now();
      await (await fetch(data)).text();
      worst = Math.max(worst, performance.now() - start);
      await Bun.sleep(3);
    }
    postMessage(worst);
  };
`;

/** Environment of a gateway whose loop is watched; `file` takes what is told. */
export const watchedLoop = (file: string): Record<string, string> => ({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, 'loop-watch.ts')}`,
  LLM0_TEST_LOOP_FILE: file,
});

/** Longest time since then that the gateway did nothing else, in milliseconds of processor time. */
export async function worstBlockMs(
  { pid }: Pick<GatewayProcess, 'pid'>,
  file: string,
  sinceMs: number,
): Promise<number> {
  const told = Bun.file(file);
  if (!(await told.exists())) return 0;
  const lines = (await told.text()).split('\n').map((line) => line.split(' ').map(Number));
  return Math.max(0, ...lines.map(([by, atMs = 0, ms = 0]) => (by === pid && atMs >= sinceMs ? ms : 0)));
}
