// One script in one QuickJS: its WebAssembly instance, heap and globals are new, and thrown away with it.
import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { GUEST_SOURCE, SCRIPT_NAME } from './guest-source';
import { FUEL, meterWasm } from './meter-wasm';
import type { RunMessage, SandboxLimits } from './sandbox-messages';

/** Rounds of loops between two looks at the clock: far more than anything in 16 MB needs, and gone within a second. */
const FUEL_BETWEEN_POLLS = 50_000_000;
const STACK_BYTES = 256 * 1024;

export interface GuestEvents {
  /** Why it is refused; nothing where it is not. */
  onCall(call: number, server: string, name: string, args: string): string;
  onLog(line: string): void;
  onDone(ok: boolean, text: string): void;
  /** `ms` below 0: not any more. Why it is refused; nothing where it is not. */
  onTimer(timer: number, ms: number): string;
}

/** QuickJS, read and compiled once for all guests of a thread. */
export async function compileQuickJs(): Promise<WebAssembly.Module> {
  const path = new URL(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'));
  return WebAssembly.compile(meterWasm(await Bun.file(path).bytes()));
}

export class Guest {
  private functions: readonly QuickJSHandle[] = [];

  private constructor(
    private readonly runtime: QuickJSRuntime,
    private readonly context: QuickJSContext,
    private readonly fuel: WebAssembly.Global,
  ) {
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => {
      this.refuel();
      return false;
    });
  }

  static async create(module: WebAssembly.Module): Promise<Guest> {
    let exports: WebAssembly.Exports = {};
    const instantiateWasm = (imports: WebAssembly.Imports, onReady: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(module, imports);
      exports = instance.exports;
      (exports[FUEL] as WebAssembly.Global).value = FUEL_BETWEEN_POLLS;
      onReady(instance);
      return exports;
    };
    const quickJs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { emscriptenModule: { instantiateWasm } }));
    const runtime = quickJs.newRuntime();
    return new Guest(runtime, runtime.newContext(), exports[FUEL] as WebAssembly.Global);
  }

  /** Whether a loop of QuickJS itself went on for too long. */
  get isOutOfFuel(): boolean {
    return this.fuel.value === 0;
  }

  /** Up to the script's first wait. Throws where the machine itself breaks: it is of no use then. */
  start({ code, tools, limits }: RunMessage, events: GuestEvents): void {
    this.runtime.setMemoryLimit(limits.memoryBytes);
    this.refuel();
    this.prepare(tools, limits, events);
    this.refuel();
    const result = this.context.evalCode(`(async () => {${code}\n})`, SCRIPT_NAME);
    if (result.error !== undefined) {
      events.onDone(false, this.describe(result.error));
      return;
    }
    this.enter(0, result.value);
  }

  settle(call: number, ok: boolean, text: string): void {
    const { context } = this;
    this.enter(1, context.newNumber(call), ok ? context.true : context.false, context.newString(text));
  }

  fire(timer: number): void {
    this.enter(2, this.context.newNumber(timer));
  }

  /** As many promises' turns as `most`; whether there are more. */
  turn(most: number): boolean {
    this.refuel();
    const result = this.runtime.executePendingJobs(most);
    result.dispose();
    return this.runtime.hasPendingJob();
  }

  private refuel(): void {
    this.fuel.value = FUEL_BETWEEN_POLLS;
  }

  private enter(index: number, ...args: readonly QuickJSHandle[]): void {
    const entry = this.functions[index];
    if (entry === undefined) throw new Error('the sandbox is not prepared');
    this.refuel();
    // What it throws is the script's own affair: a timer's error, memory that has run out.
    this.context.callFunction(entry, this.context.undefined, ...args).dispose();
    for (const arg of args) if (arg.alive) arg.dispose();
  }

  private prepare(tools: string, limits: SandboxLimits, events: GuestEvents): void {
    const { context } = this;
    const text = (handle: QuickJSHandle | undefined) => this.textOf(handle);
    const number = (handle: QuickJSHandle | undefined) => (handle === undefined ? 0 : context.getNumber(handle));
    const host = [
      context.newFunction('call', (id, server, name, args) =>
        context.newString(events.onCall(number(id), text(server), text(name), text(args))),
      ),
      context.newFunction('log', (line) => events.onLog(text(line))),
      context.newFunction('done', (ok, value) => events.onDone(context.sameValue(ok, context.true), text(value))),
      context.newFunction('timer', (id, ms) => context.newString(events.onTimer(number(id), number(ms)))),
    ];
    const make = context.unwrapResult(context.evalCode(GUEST_SOURCE, 'sandbox.js'));
    const args = [...host, context.newString(tools), context.newNumber(limits.resultBytes)];
    const made = context.unwrapResult(context.callFunction(make, context.undefined, ...args));
    this.functions = [0, 1, 2].map((index) => context.getProp(made, index));
    for (const handle of [...args, make, made]) handle.dispose();
  }

  private textOf(handle: QuickJSHandle | undefined): string {
    return handle !== undefined && this.context.typeof(handle) === 'string' ? this.context.getString(handle) : '';
  }

  /** Of errors from before the script began, which is no object of the script's. */
  private describe(error: QuickJSHandle): string {
    const [name, message] = ['name', 'message'].map((key) => error.consume.call(this.context.getProp(error, key), (handle) => this.textOf(handle)));
    return `${name}: ${message}`;
  }
}
