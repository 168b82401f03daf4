// What passes between the gateway and a sandbox's thread: values of the script only ever as JSON text.

export interface SandboxLimits {
  /** Of the script's heap. */
  readonly memoryBytes: number;
  /** From the first line to the answer, calls included. */
  readonly timeMs: number;
  readonly calls: number;
  /** Of the answer's JSON, and of what `console` wrote, in UTF-8. */
  readonly resultBytes: number;
  /** Of one call's arguments, in characters of JSON. */
  readonly argumentCharacters: number;
  /** Of what one call gives to the script, in characters of JSON. */
  readonly answerCharacters: number;
}

export const SANDBOX_LIMITS: SandboxLimits = {
  memoryBytes: 16 * 1024 * 1024,
  timeMs: 30_000,
  calls: 50,
  resultBytes: 64 * 1024,
  argumentCharacters: 1024 * 1024,
  answerCharacters: 2 * 1024 * 1024,
};

export interface RunMessage {
  readonly type: 'run';
  readonly run: number;
  readonly code: string;
  /** JSON of `{ [alias]: [names] }`. */
  readonly tools: string;
  readonly limits: SandboxLimits;
}

export interface AnswerMessage {
  readonly type: 'answer';
  readonly run: number;
  readonly call: number;
  readonly ok: boolean;
  /** JSON of the value, or the error's message. */
  readonly text: string;
}

export type ToSandbox = RunMessage | AnswerMessage;

export interface CallMessage {
  readonly type: 'call';
  readonly call: number;
  readonly server: string;
  readonly name: string;
  /** JSON of an object. */
  readonly args: string;
}

export type FromSandbox =
  | { readonly type: 'ready' }
  | CallMessage
  | { readonly type: 'log'; readonly line: string }
  /** `text`: JSON of what the script returned, or what it threw. */
  | { readonly type: 'end'; readonly ok: boolean; readonly text: string }
  /** The machine inside is of no use any more. */
  | { readonly type: 'crashed'; readonly text: string };
