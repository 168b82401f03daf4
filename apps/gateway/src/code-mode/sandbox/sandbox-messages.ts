// Messages between the gateway and a sandbox thread. Values of the script travel as JSON text only.

export interface SandboxLimits {
  /** Limit of the script's heap, including QuickJS itself (below 1 MB). */
  readonly memoryBytes: number;
  /** Limit for the whole run, calls included. */
  readonly timeMs: number;
  readonly calls: number;
  /** Limit for the JSON result plus all `console` output, in UTF-8. */
  readonly resultBytes: number;
  /** Maximum of waiting ones. */
  readonly timers: number;
  /** Limit for the arguments of one call, in characters of JSON. */
  readonly argumentCharacters: number;
  /** Limit of a call's result for the script, in characters of JSON. */
  readonly answerCharacters: number;
}

export const SANDBOX_LIMITS: SandboxLimits = {
  memoryBytes: 16 * 1024 * 1024,
  timeMs: 30_000,
  calls: 50,
  resultBytes: 64 * 1024,
  timers: 1000,
  argumentCharacters: 1024 * 1024,
  answerCharacters: 2 * 1024 * 1024,
};

/** `workerData` of a sandbox thread. */
export interface SandboxSettings {
  readonly limits: SandboxLimits;
  /** QuickJS as another thread compiled it. */
  readonly module: WebAssembly.Module | undefined;
  /** A shared number: not 0 ends the run. */
  readonly stop: SharedArrayBuffer;
}

export interface RunMessage {
  readonly type: 'run';
  readonly code: string;
  /** JSON of `[alias, [names]][]`. */
  readonly tools: string;
}

export interface AnswerMessage {
  readonly type: 'answer';
  readonly call: number;
  readonly ok: boolean;
  /** JSON of the value, or the error's message. */
  readonly text: string;
}

/** `stop`: for a run that waits; one that computes looks at the shared number. */
export type ToSandbox = RunMessage | AnswerMessage | { readonly type: 'stop' };

export interface CallMessage {
  readonly type: 'call';
  readonly call: number;
  readonly server: string;
  readonly name: string;
  /** JSON of an object. */
  readonly args: string;
}

/** `error`: the script failed. Others come from the host, and the guest is unusable. */
export type EndReason = 'done' | 'error' | 'time' | 'memory' | 'depth' | 'stopped' | 'crashed';

export interface EndMessage {
  readonly type: 'end';
  readonly reason: EndReason;
  /** JSON of the result, or the reason for none. */
  readonly text: string;
}

export type FromSandbox =
  | { readonly type: 'ready'; readonly module: WebAssembly.Module | undefined }
  | CallMessage
  | { readonly type: 'log'; readonly line: string }
  | EndMessage;
