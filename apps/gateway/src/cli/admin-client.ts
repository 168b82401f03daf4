// If the gateway is unreachable, the command exits with code 1 and names the URL.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { parseMoneyAsText } from '../admin/fields/json-money';

export interface ClientAnswer {
  /** Original text. */
  readonly text: string;
  /** Parsed, amounts of money as text. */
  readonly body: JsonObject;
}

export interface AdminClientOptions {
  /** Without `/admin/v1`. */
  readonly url: string;
  readonly token: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The gateway refused, failed or is not there; `message` is for the terminal. */
export class RequestFailed extends Error {
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

export type Query = Readonly<Record<string, JsonValue | undefined>>;

/** The admin API over HTTP. Every method throws `RequestFailed` for anything but a 2xx answer. */
export class AdminClient {
  constructor(private readonly options: AdminClientOptions) {}

  /** The same, with these headers too. */
  withHeaders(headers: Readonly<Record<string, string>>): AdminClient {
    return new AdminClient({ ...this.options, headers: { ...this.options.headers, ...headers } });
  }

  get(path: string, query: Query = {}): Promise<ClientAnswer> {
    return this.send('GET', withQuery(path, query));
  }

  post(path: string, body: JsonObject = {}): Promise<ClientAnswer> {
    return this.send('POST', path, body);
  }

  patch(path: string, body: JsonObject): Promise<ClientAnswer> {
    return this.send('PATCH', path, body);
  }

  put(path: string, body: JsonObject, query: Query = {}): Promise<ClientAnswer> {
    return this.send('PUT', withQuery(path, query), body);
  }

  delete(path: string, query: Query = {}): Promise<ClientAnswer> {
    return this.send('DELETE', withQuery(path, query));
  }

  /** A file of any length: `write` gets it in parts, each once the one before was written. */
  async download(path: string, query: Query, write: (part: Uint8Array) => Promise<void>): Promise<void> {
    const response = await this.fetch('GET', withQuery(path, query));
    if (!response.ok) throw await this.failureOf(response);
    try {
      for await (const part of response.body ?? []) await write(part);
    } catch (cause) {
      throw new RequestFailed(`The file is not complete: ${reasonOf(cause)}`);
    }
  }

  private async send(method: string, path: string, body?: JsonObject): Promise<ClientAnswer> {
    const response = await this.fetch(method, path, body);
    if (!response.ok) throw await this.failureOf(response);
    const text = await response.text();
    return { text, body: parseAnswer(text) ?? {} };
  }

  private async failureOf(response: Response): Promise<RequestFailed> {
    const told = describeFailure(response, parseAnswer(await response.text()), this.options.url);
    return new RequestFailed(told, response.status);
  }

  private async fetch(method: string, path: string, body?: JsonObject): Promise<Response> {
    const { url, token, fetch } = this.options;
    const headers = {
      ...this.options.headers,
      ...{ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    try {
      return await fetch(`${url.replace(/\/+$/, '')}/admin/v1${path}`, { method, headers, body: sent });
    } catch (cause) {
      throw new RequestFailed(`The gateway at ${url} cannot be reached: ${reasonOf(cause)}`);
    }
  }
}

function parseAnswer(text: string): JsonObject | undefined {
  try {
    const parsed = parseMoneyAsText(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const NOT_LET_IN: ReadonlySet<number> = new Set([401, 403]);

/** Names the server that refused the token or sent a foreign answer: it may be another program. */
function describeFailure(response: Response, body: JsonObject | undefined, url: string): string {
  const { status } = response;
  const error = body?.error;
  const isOurs = typeof error === 'object' && error !== null && !Array.isArray(error);
  const requestId = response.headers.get('x-request-id');
  const marks = [
    ...(requestId === null ? [] : [`request ${requestId}`]),
    ...(isOurs && !NOT_LET_IN.has(status) ? [] : [`asked at ${url}`]),
  ];
  const where = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  return isOurs ? `${status} ${error.code}: ${error.message}${where}` : `${status} ${response.statusText}${where}`;
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
