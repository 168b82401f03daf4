import { RUNTIME_ENVIRONMENT } from '../../../apps/gateway/bin/runtime-environment';

/** One answer, as far as a race over limits needs to know. */
export interface RacedAnswer {
  readonly status: number;
  readonly model: string | null;
  readonly downgradedFrom: string | null;
}

export interface RaceJob {
  /** Taken in turn. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly requests: number;
  /** Of chat, unless it says another. */
  readonly path?: string;
}

/**
 * Sends many requests at once from a process of its own (`bun test` opens 256 connections at most). `answers` grows as
 * they come; `done` resolves when all are there.
 */
export function askAtOnce(job: RaceJob): { readonly answers: readonly RacedAnswer[]; readonly done: Promise<void> } {
  const child = Bun.spawn([process.execPath, '--no-env-file', import.meta.path, JSON.stringify(job)], {
    env: { PATH: process.env.PATH ?? '', ...RUNTIME_ENVIRONMENT },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const answers: RacedAnswer[] = [];
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) answers.push(JSON.parse(line) as RacedAnswer);
    }
    if ((await child.exited) !== 0) throw new Error('the asking process failed');
  };
  return { answers, done: read() };
}

if (import.meta.main) {
  const { urls, headers, body, requests, path = '/v1/chat/completions' } = JSON.parse(process.argv[2] ?? '') as RaceJob;
  const text = JSON.stringify(body);
  await Promise.all(
    Array.from({ length: requests }, async (_, index) => {
      const url = `${urls[index % urls.length]}${path}`;
      const answer = await fetch(url, { method: 'POST', headers, body: text });
      await answer.arrayBuffer();
      const [model, downgradedFrom] = [answer.headers.get('x-model'), answer.headers.get('x-downgraded-from')];
      process.stdout.write(`${JSON.stringify({ status: answer.status, model, downgradedFrom })}\n`);
    }),
  );
}
