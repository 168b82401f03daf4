// One script in one QuickJS. Between scripts, all memory returns to its initial state.
import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { GUEST_SOURCE, SCRIPT_NAME } from './guest-source';
import { MemoryImage } from './memory-image';
import { FUEL, meterWasm } from './meter-wasm';
import type { SandboxLimits } from './sandbox-messages';

/** Rounds of loops between two looks at the clock: some milliseconds. */
const ROUNDS_BETWEEN_LOOKS = 500_000;
const PAGE_BYTES = 65_536;
/** A guest with more memory use is discarded, so that no thread keeps megabytes. */
const MOST_PAGES_TAKEN_BACK = 64;
/** Start of the module's heap, after data and stack. */
const HEAP_BEGINS = 5_333_088;
const STACK_BYTES = 256 * 1024;
/** quickjs.h: allows top-level `await`; the promise resolves to the last expression. */
const EVAL_ASYNC = 1 << 7;

export interface GuestEvents {
  /** Returns the reason for a refusal, or nothing. */
  onCall(call: number, server: string, name: string, args: string): string;
  onLog(line: string): void;
  onDone(ok: boolean, text: string): void;
  /** `ms` below 0 cancels. Returns the reason for a refusal, or nothing. */
  onTimer(timer: number, ms: number): string;
  /** Runs every few milliseconds of computing; a throw ends the script. */
  onLook(hasOverflowed: boolean): void;
}

/** QuickJS, read and compiled once for all guests of all threads. */
export async function compileQuickJs(): Promise<WebAssembly.Module> {
  const path = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'));
  return WebAssembly.compile(meterWasm(await Bun.file(path).bytes()));
}

/** The functions that the source of the guest gives, in its order. */
const ENTRIES = ['offer', 'start', 'settle', 'fire'] as const;
type Entry = (typeof ENTRIES)[number];

export class Guest {
  private entries: Partial<Record<Entry, QuickJSHandle>> = {};
  private image: MemoryImage | undefined;

  private constructor(
    private readonly runtime: QuickJSRuntime,
    private readonly context: QuickJSContext,
    private readonly memory: WebAssembly.Memory,
    private events: GuestEvents,
  ) {}

  /**
   * Creates a guest from `compileQuickJs` in a millisecond or two. Methods throw errors of `onLook` and of a broken
   * machine; then discard it.
   */
  static async create(module: WebAssembly.Module, limits: SandboxLimits, events: GuestEvents): Promise<Guest> {
    const pages = Math.ceil((HEAP_BEGINS + limits.memoryBytes) / PAGE_BYTES);
    const wasmMemory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    let guest: Guest | undefined;
    let fuel: WebAssembly.Global | undefined;
    let hasOverflowed = false;
    // The whole memory exists from the start, so growth means too much.
    wasmMemory.grow = () => {
      hasOverflowed = true;
      if (fuel !== undefined) fuel.value = -1;
      throw new RangeError('the memory of the sandbox does not grow');
    };
    const look = () => {
      if (fuel === undefined || fuel.value >= 0) return;
      fuel.value = ROUNDS_BETWEEN_LOOKS;
      (guest?.events ?? events).onLook(hasOverflowed);
    };
    const instantiateWasm = (imports: WebAssembly.Imports, onReady: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(module, watchClock(module, imports, look));
      fuel = instance.exports[FUEL] as WebAssembly.Global;
      onReady(instance);
      return instance.exports;
    };
    const quickJs = await newQuickJSWASMModuleFromVariant(
      newVariant(variant, { wasmMemory, emscriptenModule: { instantiateWasm } }),
    );
    const runtime = quickJs.newRuntime();
    runtime.setMaxStackSize(STACK_BYTES);
    guest = new Guest(runtime, runtime.newContext(), wasmMemory, events);
    guest.prepare(limits);
    return guest;
  }

  /** Restores the initial state for another script. False: discard the guest. */
  reset(events: GuestEvents): boolean {
    this.events = events;
    return this.image !== undefined && this.image.restore() <= MOST_PAGES_TAKEN_BACK;
  }

  /** Up to the script's first wait. `tools`: JSON of `[alias, [names]][]`. */
  start(code: string, tools: string): void {
    const { context } = this;
    const seeds = [...crypto.getRandomValues(new Int32Array(4))].map((seed) => context.newNumber(seed));
    this.enter('offer', context.newString(tools), ...seeds);
    const program = context.evalCode(code, SCRIPT_NAME, EVAL_ASYNC);
    if (program.error === undefined) {
      this.enter('start', program.value, context.true);
      return;
    }
    // Many write the body of a function, with `return`.
    const body = context.evalCode(`(async () => {${code}\n})`, SCRIPT_NAME, 0);
    if (body.error === undefined) {
      this.enter('start', body.value, context.false);
      return;
    }
    const [first, second] = [this.describe(program.error), this.describe(body.error)];
    this.events.onDone(false, /return/.test(first) ? second : first);
  }

  settle(call: number, ok: boolean, text: string): void {
    const { context } = this;
    this.enter('settle', context.newNumber(call), ok ? context.true : context.false, context.newString(text));
  }

  fire(timer: number): void {
    this.enter('fire', this.context.newNumber(timer));
  }

  /** Runs up to `most` promise jobs; true if more are pending. */
  turn(most: number): boolean {
    this.runtime.executePendingJobs(most).dispose();
    return this.runtime.hasPendingJob();
  }

  private enter(name: Entry, ...args: readonly QuickJSHandle[]): void {
    const entry = this.entries[name];
    if (entry === undefined) throw new Error('the sandbox is not prepared');
    // A throw inside affects the script only, like an error in a timer.
    this.context.callFunction(entry, this.context.undefined, ...args).dispose();
    for (const arg of args) if (arg.alive) arg.dispose();
  }

  private prepare({ resultBytes }: SandboxLimits): void {
    const { context } = this;
    const text = (handle: QuickJSHandle | undefined) => this.textOf(handle);
    const number = (handle: QuickJSHandle | undefined) => (handle === undefined ? 0 : context.getNumber(handle));
    const host = [
      context.newFunction('call', (id, server, name, args) =>
        context.newString(this.events.onCall(number(id), text(server), text(name), text(args))),
      ),
      context.newFunction('log', (line) => this.events.onLog(text(line))),
      context.newFunction('done', (ok, value) => this.events.onDone(context.sameValue(ok, context.true), text(value))),
      context.newFunction('timer', (id, ms) => context.newString(this.events.onTimer(number(id), number(ms)))),
    ];
    const make = context.unwrapResult(context.evalCode(GUEST_SOURCE, 'sandbox.js', 0));
    const args = [...host, context.newNumber(resultBytes)];
    const made = context.unwrapResult(context.callFunction(make, context.undefined, ...args));
    for (const [index, name] of ENTRIES.entries()) this.entries[name] = context.getProp(made, index);
    for (const handle of [...args, make, made]) handle.dispose();
    this.image = new MemoryImage(this.memory);
  }

  private textOf(handle: QuickJSHandle | undefined): string {
    return handle !== undefined && this.context.typeof(handle) === 'string' ? this.context.getString(handle) : '';
  }

  /** Errors from before the script's start, which aren't the script's objects. */
  private describe(error: QuickJSHandle): string {
    const read = (key: string) => this.context.getProp(error, key).consume((handle) => this.textOf(handle));
    return `${read('name')}: ${read('message')}${read('stack') === '' ? '' : `\n${read('stack')}`}`.trimEnd();
  }
}

/** The imports with a clock that calls `onLook` first. Throws unless there is exactly one clock. */
function watchClock(module: WebAssembly.Module, imports: WebAssembly.Imports, look: () => void): WebAssembly.Imports {
  const [{ module: from } = { module: '' }] = WebAssembly.Module.imports(module);
  const given = imports[from] ?? {};
  const clocks = Object.entries(given).filter(([, value]) => /^\(\) ?=> ?Date\.now\(\)$/.test(String(value)));
  const [clock] = clocks;
  if (clock === undefined || clocks.length > 1) throw new Error('this QuickJS has no clock, or several');
  const watched = () => {
    look();
    return Date.now();
  };
  return { [from]: { ...given, [clock[0]]: watched } };
}
