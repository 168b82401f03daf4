import type { SandboxLimits } from './sandbox-messages';
import { SandboxPool } from './sandbox-pool';
import type { SandboxCall, SandboxJob, SandboxOutcome } from './sandbox-worker';

export const TOOLS: SandboxJob['tools'] = [
  ['demo', ['echo', 'fail', 'wait', 'odd name!', '__proto__', 'then', 'quote\'"\\', 'ünï.cödé']],
  ['__proto__', ['echo']],
  ['git-hub', ['constructor', 'toString']],
];

/** A pool with a host of its own, which notes what reached it. */
export class SandboxFixture {
  readonly calls: SandboxCall[] = [];
  readonly pool: SandboxPool;
  /** Where they are aborted, calls of `wait` end. */
  aborted = 0;

  constructor(
    limits: Partial<SandboxLimits> = {},
    readonly size = 2,
  ) {
    this.pool = new SandboxPool({ limits, size });
  }

  run(code: string, given: Partial<SandboxJob> = {}): Promise<SandboxOutcome> {
    return this.pool.run({
      ...{ owner: crypto.randomUUID(), code, tools: TOOLS, signal: new AbortController().signal },
      call: (call) => this.answer(call),
      ...given,
    });
  }

  /** Result of the script; throws without one. */
  async value(code: string, given: Partial<SandboxJob> = {}): Promise<unknown> {
    const outcome = await this.run(code, given);
    if (outcome.reason !== 'done') throw new Error(`${outcome.reason}: ${outcome.text}`);
    return JSON.parse(outcome.text);
  }

  private async answer(call: SandboxCall): Promise<string> {
    this.calls.push(call);
    if (call.name === 'fail') throw new Error(String(call.args.message ?? 'the server says no'));
    if (call.name === 'wait') await this.wait(call);
    return JSON.stringify({ name: call.name, args: call.args });
  }

  private wait({ args, signal }: SandboxCall): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Number(args.ms));
    signal.addEventListener('abort', () => {
      this.aborted++;
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }
}
