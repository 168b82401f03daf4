// Thread of a sandbox: one run at a time, and its guest is reset right after. An interrupted run is the thread's last;
// its owner terminates it.
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { compileQuickJs, Guest, type GuestEvents } from './guest';
import type { EndReason, FromSandbox, RunMessage, SandboxSettings, ToSandbox } from './sandbox-messages';

lowerPriority(5);

const { limits, module: given, stop } = workerData as SandboxSettings;
const stopped = new Int32Array(stop);
const compiling = given === undefined ? compileQuickJs() : Promise.resolve(given);
/** Promises' turns between two looks at messages: answers of tools reach a script that is never idle. */
const TURNS_AT_ONCE = 1000;
/** Charge for each log line, so that empty lines reach the limit as well. */
const LINE_BYTES = 16;

/** Reason for stopping a guest, thrown through it. */
class Stopped extends Error {
  constructor(readonly reason: EndReason) {
    super(reason);
  }
}

const post = (message: FromSandbox) => parentPort?.postMessage(message);

class Run implements GuestEvents {
  guest: Guest | undefined;
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();
  private calls = 0;
  private logBytes = 0;
  private endsAtMs = Number.POSITIVE_INFINITY;
  private isTurning = false;
  private hasEnded = false;
  /** True if the guest stopped in the middle of something. */
  isBroken = false;

  start({ code, tools }: RunMessage): void {
    this.endsAtMs = performance.now() + limits.timeMs;
    setTimeout(() => this.end('time', ''), limits.timeMs).unref();
    this.enter((guest) => guest.start(code, tools));
  }

  answer(call: number, ok: boolean, text: string): void {
    this.enter((guest) => guest.settle(call, ok, text));
  }

  end(reason: EndReason, text: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    post({ type: 'end', reason, text });
    // Not from inside the guest, which must return first.
    if (reason === 'done' || reason === 'error') setImmediate(() => void prepareNext(this));
  }

  onLook(hasOverflowed: boolean): void {
    if (this.hasEnded) throw new Stopped('crashed');
    if (hasOverflowed) throw new Stopped('memory');
    if (Atomics.load(stopped, 0) !== 0) throw new Stopped('stopped');
    if (performance.now() > this.endsAtMs) throw new Stopped('time');
  }

  onCall(call: number, server: string, name: string, args: string): string {
    if (this.hasEnded) return 'The run has ended.';
    if (args.length > limits.argumentCharacters) {
      return `The arguments are longer than ${limits.argumentCharacters} characters of JSON.`;
    }
    if (++this.calls > limits.calls) return `A script may call tools ${limits.calls} times.`;
    post({ type: 'call', call, server, name, args });
    return '';
  }

  onLog(line: string): void {
    if (this.hasEnded || this.logBytes > limits.resultBytes) return;
    this.logBytes += Buffer.byteLength(line) + LINE_BYTES;
    const isTooMuch = this.logBytes > limits.resultBytes;
    post({ type: 'log', line: isTooMuch ? `[no more of the console than ${limits.resultBytes} bytes]` : line });
  }

  onTimer(timer: number, ms: number): string {
    clearTimeout(this.timers.get(timer));
    this.timers.delete(timer);
    if (ms < 0 || this.hasEnded) return '';
    if (this.timers.size >= limits.timers) return `There are ${limits.timers} timers already.`;
    const fire = () => {
      this.timers.delete(timer);
      this.enter((guest) => guest.fire(timer));
    };
    this.timers.set(timer, setTimeout(fire, Math.min(ms, limits.timeMs)));
    return '';
  }

  onDone(ok: boolean, text: string): void {
    if (ok && Buffer.byteLength(text) > limits.resultBytes) {
      this.end('error', `Error: the result is larger than ${limits.resultBytes} bytes of JSON. Return less.`);
    } else this.end(ok ? 'done' : 'error', text);
  }

  /** Into the script, and on with its promises. */
  private enter(step: (guest: Guest) => void): void {
    if (this.guest === undefined || this.hasEnded) return;
    try {
      step(this.guest);
      this.turn(this.guest);
    } catch (error) {
      this.fail(error);
    }
  }

  private turn(guest: Guest): void {
    if (this.isTurning) return;
    const hasMore = guest.turn(TURNS_AT_ONCE);
    if (!hasMore || this.hasEnded) return;
    this.isTurning = true;
    setImmediate(() => {
      this.isTurning = false;
      this.enter(() => this.onLook(false));
    });
  }

  private fail(error: unknown): void {
    this.isBroken = true;
    if (this.hasEnded) post({ type: 'end', reason: 'crashed', text: '' });
    else if (error instanceof Stopped) this.end(error.reason, '');
    // The thread's own stack has run out, below that of QuickJS: its parser looks at its own too late.
    else if (error instanceof RangeError) this.end('depth', '');
    else this.end('crashed', error instanceof Error ? error.message : String(error));
  }
}

let run = new Run();

async function prepareNext(last?: Run): Promise<void> {
  if (last?.isBroken) return;
  try {
    const module = await compiling;
    run = new Run();
    const guest = last?.guest;
    run.guest = guest?.reset(run) ? guest : await Guest.create(module, limits, run);
    post({ type: 'ready', module: given === undefined ? module : undefined });
  } catch (error) {
    post({ type: 'end', reason: 'crashed', text: error instanceof Error ? error.message : String(error) });
  }
}

const TAKE = {
  run: (message) => run.start(message),
  answer: ({ call, ok, text }) => run.answer(call, ok, text),
  stop: () => run.end('stopped', ''),
} satisfies { [Type in ToSandbox['type']]: (message: Extract<ToSandbox, { type: Type }>) => void };

parentPort?.on('message', (message: ToSandbox) => (TAKE[message.type] as (message: ToSandbox) => void)(message));
void prepareNext();
