import { freePort, isRoot, NOBODY, removeFolder, type TestServer, temporaryFolder } from '../stores/server-process';
import { startPostgres } from '../stores/start-postgres';
import { endAtOnce, signalAll, withChildren } from './server-signals';

const START_ATTEMPTS = 20;

/** A Postgres with its data in a folder, to be broken. */
export class ChaosPostgres {
  private server: TestServer | undefined;
  private stopped: readonly number[] = [];

  private constructor(
    private readonly port: number,
    private readonly folder: string,
  ) {}

  static async start(): Promise<ChaosPostgres> {
    const folder = temporaryFolder('chaos-postgres', isRoot ? NOBODY : undefined);
    const postgres = new ChaosPostgres(await freePort(), folder);
    await postgres.start();
    return postgres;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** After a kill the first attempts may find what the old processes have not yet let go. */
  async start(): Promise<void> {
    for (let attempt = 1; this.server === undefined; attempt++) {
      try {
        this.server = await startPostgres({ port: this.port, dataDir: this.folder });
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error;
        await Bun.sleep(100);
      }
    }
  }

  async kill(): Promise<void> {
    if (this.server !== undefined) await endAtOnce(withChildren(this.server.pid));
    this.server = undefined;
  }

  /** A fast shutdown: open transactions are rolled back. */
  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  freeze(): void {
    if (this.server !== undefined) this.stopped = withChildren(this.server.pid);
    signalAll(this.stopped, 'SIGSTOP');
  }

  thaw(): void {
    signalAll(this.stopped, 'SIGCONT');
    this.stopped = [];
  }

  async dispose(): Promise<void> {
    this.thaw();
    await this.kill();
    removeFolder(this.folder);
  }
}
