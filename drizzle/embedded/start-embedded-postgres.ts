// If the child dies, it restarts with back-off; queries fail meanwhile like those to an unreachable Postgres.
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endingOf, waitForReady } from './child-start';
import { isAlive, lockDataDir } from './data-dir-lock';
import { claimFolder, closeDatabase, socketFolder } from './private-folder';

export interface EmbeddedPostgres {
  readonly socketPath: string;
  /** The child's pid right now; null between a crash and its restart. */
  readonly pid: () => number | null;
  /** Checkpoints and stops the child, then frees the data folder. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** One line for the operator: a crash, a restart. */
  readonly onWarning: (message: string) => void;
}

const STOP_TIMEOUT_MS = 5_000;
const LEFTOVER_GRACE_MS = 1_000;
const RESTART_CEILING_MS = 5_000;
/** A child that ran this long starts over with the shortest back-off. */
const SETTLED_MS = 30_000;
/** Unix socket paths are limited to 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH = 100;

/** Switches of Bun's alone, as this process has them (`runtime-environment.ts`; tests set their own). */
const childEnvironment = () => ({
  BUN_JSC_forceRAMSize: process.env.BUN_JSC_forceRAMSize ?? String(320 * 1024 * 1024),
  MIMALLOC_PURGE_DELAY: process.env.MIMALLOC_PURGE_DELAY ?? '100',
  BUN_JSC_useOMGJIT: process.env.BUN_JSC_useOMGJIT,
});

/** Runs PGlite on a Unix socket in the data folder (0700). First start ~5 s, later ~0.5 s. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  claimFolder(dataDir, options.onWarning);
  const lock = lockDataDir(dataDir);
  try {
    closeDatabase(join(dataDir, 'postgres'));
    return await new EmbeddedSupervisor(dataDir, options.onWarning, () => lock.release()).start();
  } catch (error) {
    lock.release();
    throw error;
  }
}

class EmbeddedSupervisor {
  private child: Bun.Subprocess<'pipe', 'pipe', 'pipe'> | null = null;
  private stopping: Promise<void> | null = null;
  private backOffMs = 100;
  private readonly socketPath: string;
  private readonly madeFolder: string | undefined;
  private readonly identityFile: string;

  constructor(
    private readonly dataDir: string,
    private readonly onWarning: (message: string) => void,
    private readonly onStopped: () => void,
  ) {
    this.identityFile = join(dataDir, 'postgres.pid');
    const { path, madeFolder } = chooseSocketPath(dataDir);
    this.socketPath = path;
    this.madeFolder = madeFolder;
  }

  async start(): Promise<EmbeddedPostgres> {
    await this.launch();
    return {
      socketPath: this.socketPath,
      pid: () => this.child?.pid ?? null,
      stop: () => {
        this.stopping ??= this.shutDown();
        return this.stopping;
      },
    };
  }

  private async launch(): Promise<void> {
    await endLeftover(this.identityFile);
    const script = join(import.meta.dir, 'postgres-child.ts');
    const startedMs = performance.now();
    const child = Bun.spawn(
      [process.execPath, '--no-env-file', script, join(this.dataDir, 'postgres'), this.socketPath, this.identityFile],
      { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', cwd: this.dataDir, env: childEnvironment() },
    );
    this.child = child;
    const lastWords = keepTail(child.stderr);
    try {
      await waitForReady(child, lastWords);
    } catch (error) {
      this.child = null;
      child.kill('SIGKILL');
      throw error;
    }
    void child.exited.then(() => this.onExit(endingOf(child), performance.now() - startedMs, lastWords()));
  }

  private onExit(how: string, ranMs: number, lastWords: string): void {
    this.child = null;
    if (this.stopping !== null) return;
    if (ranMs > SETTLED_MS) this.backOffMs = 100;
    const waitMs = this.backOffMs;
    this.backOffMs = Math.min(this.backOffMs * 2, RESTART_CEILING_MS);
    this.onWarning(`embedded Postgres ended (${how}); starting it again in ${waitMs} ms ${lastWords}`.trim());
    setTimeout(() => void this.relaunch(), waitMs);
  }

  private async relaunch(): Promise<void> {
    if (this.stopping !== null) return;
    try {
      await this.launch();
      if (this.stopping === null) this.onWarning('embedded Postgres is back');
    } catch (error) {
      this.onExit('code -1', 0, error instanceof Error ? error.message : String(error));
    }
  }

  private async shutDown(): Promise<void> {
    const child = this.child;
    try {
      if (child === null) return;
      child.stdin.write('stop\n');
      await child.stdin.flush();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await child.exited;
      clearTimeout(timer);
    } finally {
      if (this.madeFolder !== undefined) rmSync(this.madeFolder, { recursive: true, force: true });
      this.onStopped();
    }
  }
}

/** In the data folder, or where its path is too long, in a folder of its own: one that was made for it goes with it. */
function chooseSocketPath(dataDir: string): { readonly path: string; readonly madeFolder?: string } {
  const inside = join(dataDir, 'postgres.sock');
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH) return { path: inside };
  const folder = socketFolder(`llm0-${Bun.hash(dataDir).toString(36)}`);
  return { path: join(folder.path, 'postgres.sock'), madeFolder: folder.isNew ? folder.path : undefined };
}

/** Two processes on one data folder would destroy it: a child left over from a killed gateway is waited for, then killed. */
async function endLeftover(identityFile: string): Promise<void> {
  let identity: string;
  try {
    identity = readFileSync(identityFile, 'utf8').trim();
  } catch {
    return;
  }
  const deadline = performance.now() + LEFTOVER_GRACE_MS;
  while (isAlive(identity)) {
    if (performance.now() > deadline) process.kill(Number(identity.split(' ')[0]), 'SIGKILL');
    await Bun.sleep(20);
  }
}

/** Reads a stream to its end and remembers its last 2,000 characters. */
function keepTail(stream: ReadableStream<Uint8Array>): () => string {
  let tail = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) tail = (tail + decoder.decode(chunk, { stream: true })).slice(-2_000);
  };
  void read().catch(() => {});
  return () => tail.trim();
}
