/** One thing a program says or has been told. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly imageBase64?: string }
  /** An earlier answer, as the same client gave it. */
  | { readonly role: 'assistant'; readonly reply: Reply }
  /** Results of the answer's calls, in their order. */
  | { readonly role: 'tool'; readonly results: readonly { readonly call: Call; readonly text: string }[] };

/** One question, whatever the client's words for it. */
export interface Question {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly stream: boolean;
  /** Offers the tool `weather` (`city`). */
  readonly tools?: boolean;
  /** Wants JSON with one field `city`. */
  readonly structured?: boolean;
  readonly reasoning?: boolean;
  readonly signal?: AbortSignal;
  /** Called with the first piece of a stream. */
  readonly onPiece?: () => void;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** Parsed by the client, or its JSON text. */
  readonly args: unknown;
}

/** What a program sees of an answer. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
  /** undefined where this client has no place for it. */
  readonly reasoning?: string;
  /** All tokens, as the client tells them. */
  readonly totalTokens: number | undefined;
  /** The client's own form of it, for sending it back. */
  readonly native: unknown;
}

/** A client library at one of the gateway's APIs. */
export interface ClientDriver {
  readonly name: string;
  /** What a program installs for it, with versions. */
  readonly library: string;
  /** The path it speaks to. */
  readonly api: string;
  /** Model families it can ask; absent = all. */
  readonly families?: readonly string[];
  /** Runs tools by itself until there is an answer. */
  readonly runsAgents?: true;
  /** Shows a model's reasoning. */
  readonly showsReasoning: boolean;
  connect(gateway: GatewayAccess): ConnectedClient;
}

export interface GatewayAccess {
  readonly url: string;
  readonly apiKey: string;
}

/** What a client's own loop over calls and results came to. */
export interface AgentRun {
  readonly text: string;
  /** Arguments the program's tool was run with, in their order. */
  readonly toolInputs: readonly unknown[];
  readonly steps: number;
  /** Set where the run was to end in an object. */
  readonly object?: unknown;
}

export interface ConnectedClient {
  ask(question: Question): Promise<Reply>;
  /** Set for clients that run tools by themselves until there is an answer. */
  runAgent?(question: Question): Promise<AgentRun>;
  /** The HTTP status a failure of the client stands for. */
  statusOf(error: unknown): number | undefined;
  close?(): Promise<void>;
}

/** The tool every client offers, as a JSON schema. */
export const WEATHER = {
  name: 'weather',
  description: 'Weather of a city',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

/** The form of a structured answer, as a JSON schema. */
export const CITY_SCHEMA = WEATHER.schema;
/** What a loop over tools is to end in; unlike anything a tool takes. */
export const SUNNIEST_SCHEMA = {
  type: 'object',
  properties: { sunniest: { type: 'string' } },
  required: ['sunniest'],
  additionalProperties: false,
} as const;
export const MAX_OUTPUT_TOKENS = 3000;
export const PNG = 'image/png';

export function parseArguments(text: string): unknown {
  return JSON.parse(text === '' ? '{}' : text) as unknown;
}

/** A numeric `status` (or `statusCode`) of an error, wherever the client keeps it. */
export function statusField(error: unknown): number | undefined {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const { status, statusCode } = cause as { status?: unknown; statusCode?: unknown };
    if (typeof status === 'number') return status;
    if (typeof statusCode === 'number') return statusCode;
  }
  return undefined;
}
