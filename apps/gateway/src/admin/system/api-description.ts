// The thread breaks: whoever asked is told, and the next one to ask starts another.
import { Worker } from 'node:worker_threads';

/**
 * The OpenAPI document as text, made when somebody asks for it first and then kept: it takes a fifth of a second, which
 * no start should wait for and no request, so that it is made in a thread.
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
