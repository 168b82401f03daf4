import { Worker } from 'node:worker_threads';
import type {
  CallMessage,
  EndReason,
  FromSandbox,
  SandboxLimits,
  SandboxSettings,
  ToSandbox,
} from './sandbox-messages';

export interface SandboxCall {
  readonly server: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Ends with the run. */
  readonly signal: AbortSignal;
}

export interface SandboxJob {
  /** One owner gets at most half of the sandboxes. */
  readonly owner: string;
  readonly code: string;
  /** Members of `tools`: names by alias. */
  readonly tools: readonly (readonly [alias: string, names: readonly string[]])[];
  /** Returns JSON for the script; the script sees a throw as an error. */
  readonly call: (call: SandboxCall) => Promise<string>;
  /** Ends the run when aborted. */
  readonly signal: AbortSignal;
}

export interface SandboxOutcome {
  /** `busy`: it never ran. */
  readonly reason: EndReason | 'busy';
  /** `done`: JSON of the result; `error`, `crashed`: the reason; else empty. */
  readonly text: string;
  readonly logs: readonly string[];
  /** Attempts that reached the host. */
  readonly calls: number;
  readonly durationMs: number;
}

export interface SandboxWorkerOptions {
  readonly limits: SandboxLimits;
  readonly module: WebAssembly.Module | undefined;
  readonly onReady: (worker: SandboxWorker, module: WebAssembly.Module | undefined) => void;
  /** Once: the thread is of no use any more, and ends. */
  readonly onGone: (worker: SandboxWorker) => void;
}

/** Time in milliseconds for a thread to notice the end of its run; then the gateway terminates it. */
const NOTICE_MS = 500;

interface RunningJob {
  readonly job: SandboxJob;
  readonly calls: AbortController;
  readonly startedMs: number;
  readonly logs: string[];
  readonly settle: (outcome: SandboxOutcome) => void;
  callCount: number;
}

/** One thread, with one run at a time. */
export class SandboxWorker {
  private readonly worker: Worker;
  private readonly stop = new SharedArrayBuffer(4);
  private running: RunningJob | undefined;
  private killing: ReturnType<typeof setTimeout> | undefined;
  private isGone = false;

  constructor(private readonly options: SandboxWorkerOptions) {
    const { limits, module } = options;
    const settings: SandboxSettings = { limits, module, stop: this.stop };
    // The thread has nothing of the gateway's environment.
    this.worker = new Worker(new URL('./sandbox-thread.ts', import.meta.url), { workerData: settings, env: {} });
    this.worker.on('message', (message: FromSandbox) => this.onMessage(message));
    this.worker.on('error', (error: Error) => this.onEnd('crashed', error.message));
    this.worker.on('exit', () => this.onEnd('crashed', 'the sandbox ended'));
    this.worker.unref();
  }

  /** Never throws. */
  run(job: SandboxJob): Promise<SandboxOutcome> {
    const { promise, resolve } = Promise.withResolvers<SandboxOutcome>();
    const calls = new AbortController();
    this.running = { job, calls, logs: [], settle: resolve, startedMs: performance.now(), callCount: 0 };
    this.killLater('time', this.options.limits.timeMs + NOTICE_MS);
    const onAbort = () => {
      Atomics.store(new Int32Array(this.stop), 0, 1);
      this.post({ type: 'stop' });
      calls.abort();
      this.killLater('stopped', NOTICE_MS);
    };
    job.signal.addEventListener('abort', onAbort, { once: true });
    this.post({ type: 'run', code: job.code, tools: JSON.stringify(job.tools) });
    if (job.signal.aborted) onAbort();
    return promise.finally(() => job.signal.removeEventListener('abort', onAbort));
  }

  end(): void {
    this.onEnd('stopped', '');
    this.leave();
  }

  private onMessage(message: FromSandbox): void {
    if (this.isGone) return;
    if (message.type === 'ready') this.options.onReady(this, message.module);
    else if (message.type === 'log') this.running?.logs.push(message.line);
    else if (message.type === 'call') void this.answer(message);
    else this.onEnd(message.reason, message.text);
  }

  private async answer({ call, server, name, args }: CallMessage): Promise<void> {
    const running = this.running;
    if (running === undefined) return;
    running.callCount++;
    const reply = await this.ask(running, { server, name, args });
    if (this.running === running) this.post({ type: 'answer', call, ...reply });
  }

  private async ask(
    { job, calls }: RunningJob,
    { server, name, args }: Pick<CallMessage, 'server' | 'name' | 'args'>,
  ): Promise<{ ok: boolean; text: string }> {
    const { answerCharacters } = this.options.limits;
    try {
      const parsed = JSON.parse(args) as Record<string, unknown>;
      const text = await job.call({ server, name, args: parsed, signal: calls.signal });
      if (text.length <= answerCharacters) return { ok: true, text };
      return { ok: false, text: `The result is longer than ${answerCharacters} characters of JSON. Ask for less.` };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { ok: false, text: text.slice(0, answerCharacters) };
    }
  }

  private onEnd(reason: EndReason, text: string): void {
    clearTimeout(this.killing);
    const running = this.running;
    this.running = undefined;
    if (reason !== 'done' && reason !== 'error') this.leave();
    if (running === undefined) return;
    running.calls.abort();
    const durationMs = performance.now() - running.startedMs;
    running.settle({ reason, text, logs: running.logs, calls: running.callCount, durationMs });
  }

  private killLater(reason: EndReason, afterMs: number): void {
    clearTimeout(this.killing);
    this.killing = setTimeout(() => this.onEnd(reason, ''), afterMs);
  }

  private leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    void this.worker.terminate();
    this.options.onGone(this);
  }

  private post(message: ToSandbox): void {
    if (!this.isGone) this.worker.postMessage(message);
  }
}
