// If the thread fails, its callers get the error and the next caller starts another.
import { Worker } from 'node:worker_threads';

/**
 * OpenAPI document as text. Building takes a fifth of a second, so a thread builds it on first use and it stays cached.
 */
export class ApiDescription {
  private text: Promise<string> | undefined;

  constructor(private readonly version: string) {}

  read(): Promise<string> {
    this.text ??= this.make().catch((error: unknown) => {
      this.text = undefined;
      throw error;
    });
    return this.text;
  }

  private async make(): Promise<string> {
    const worker = new Worker(new URL('./describe-worker.ts', import.meta.url), { env: {} });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the thread ended with ${code}`)));
    worker.postMessage(this.version);
    try {
      return await promise;
    } finally {
      void worker.terminate();
    }
  }
}
