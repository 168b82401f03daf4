import { join } from 'node:path';

/** What was seen of a gateway between two marks. */
export interface Readings {
  readonly livezMs: number;
  /** The worst without what others on this machine took: the time in which a thread could have run and got no core. */
  readonly ownMs: number;
  /** The same of a server that does nothing. */
  readonly bareMs: number;
  /** The most that was resident. */
  readonly memoryBytes: number;
  readonly nowBytes: number;
  readonly asked: number;
  /** Asked without an answer: the connection broke. */
  readonly failed: number;
}

export interface GatewayWatch {
  /** What was worst since the last mark. */
  mark(): Promise<Readings>;
  stop(): Promise<void>;
}

/** Watches from processes of their own, so that whoever plays the attacks does not count. */
export async function watchGateway(gateway: { readonly url: string; readonly pid: number }): Promise<GatewayWatch> {
  const spawn = (file: string, ...args: string[]) =>
    Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, file), ...args], {
      env: { PATH: process.env.PATH ?? '' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    });
  const bare = spawn('bare-server.ts');
  const bareUrl = await readLines(bare.stdout)();
  const prober = spawn('measure-livez.ts', gateway.url, bareUrl, String(gateway.pid));
  const nextLine = readLines(prober.stdout);
  return {
    mark: async () => {
      prober.stdin.write('mark\n');
      void prober.stdin.flush();
      return JSON.parse(await nextLine()) as Readings;
    },
    stop: async () => {
      for (const child of [prober, bare]) child.kill();
      await Promise.all([prober.exited, bare.exited]);
    },
  };
}

/** Gives one line of a process after the other. */
function readLines(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return async () => {
    for (;;) {
      const end = text.indexOf('\n');
      if (end >= 0) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        return line;
      }
      const { done, value } = await reader.read();
      if (done) throw new Error('the measuring process ended');
      text += decoder.decode(value, { stream: true });
    }
  };
}
