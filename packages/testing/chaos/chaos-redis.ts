import { openRedis } from '@llm0/core/limits/redis/connection';
import type { Redis } from 'ioredis';
import { freePort, removeFolder, type TestServer, temporaryFolder } from '../stores/server-process';
import { startRedis } from '../stores/start-redis';
import { endAtOnce, signalAll } from './server-signals';

/** A Redis as an operator runs it (append-only file, fsync every second), to be broken. */
export class ChaosRedis {
  private server: TestServer | undefined;
  private upSinceMs = 0;
  private frozen = false;

  private constructor(
    readonly port: number,
    private readonly folder: string,
  ) {}

  static async start(): Promise<ChaosRedis> {
    const redis = new ChaosRedis(await freePort(), temporaryFolder('chaos-redis'));
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['--appendfsync', 'everysec'];
    this.server = await startRedis({ port: this.port, dataDir: this.folder, args });
    this.upSinceMs = Date.now();
  }

  /** `kill -9`: what was not yet written to the append-only file is lost. */
  async kill(): Promise<void> {
    if (this.server !== undefined) await endAtOnce([this.server.pid]);
    this.server = undefined;
  }

  /** A clean shutdown: nothing is lost. */
  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  freeze(): void {
    this.frozen = true;
    if (this.server !== undefined) signalAll([this.server.pid], 'SIGSTOP');
  }

  thaw(): void {
    if (this.server !== undefined) signalAll([this.server.pid], 'SIGCONT');
    this.frozen = false;
    this.upSinceMs = Date.now();
  }

  /** Answering without a break for this long. */
  isUpFor(ms: number): boolean {
    return this.server !== undefined && !this.frozen && Date.now() - this.upSinceMs >= ms;
  }

  async flush(): Promise<void> {
    await this.ask((client) => client.flushall());
  }

  /** When the oldest log entry that is not yet a row was queued, epoch ms; null = the queue is empty. */
  oldestEntryMs(): Promise<number | null> {
    return this.ask(async (client) => {
      const [first] = await client.xrange('llm0:{s0}:log', '-', '+', 'COUNT', 1);
      return first === undefined ? null : Number(first[0].split('-')[0]);
    });
  }

  async dispose(): Promise<void> {
    if (this.frozen) this.thaw();
    await this.kill();
    removeFolder(this.folder);
  }

  private async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = openRedis(this.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on('error', () => {});
    try {
      return await question(client);
    } finally {
      client.disconnect();
    }
  }
}
