// Refused, or the gateway gone: the outcome holds the message; nothing is thrown but for an abort.

export interface ChatWish {
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
  readonly system?: string;
  readonly stream: boolean;
  readonly signal?: AbortSignal;
  /** Called with all text so far. */
  readonly onText?: (text: string) => void;
}

export interface ChatOutcome {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
  /** The gateway's own headers, and `X-Request-Id`. */
  readonly headers: readonly (readonly [string, string])[];
  readonly costUsd: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly ttftMs: number | null;
  readonly totalMs: number;
}

interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
}

/** What of a chunk or an answer is looked at. */
interface ChatJson {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content?: string | null };
  }[];
  readonly usage?: Usage | null;
  readonly cost_usd?: number;
  readonly error?: { readonly message?: string };
}

const SHOWN_HEADER = /^(x-(?!powered|content)|retry-after)/;

/** One request as an application would send it. */
export async function sendChat(wish: ChatWish, fetchFrom: typeof fetch = fetch): Promise<ChatOutcome> {
  const startMs = performance.now();
  const response = await fetchFrom('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${wish.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(wish)),
    signal: wish.signal,
    credentials: 'omit',
  });
  const headers = [...response.headers].filter(([name]) => SHOWN_HEADER.test(name));
  const reader = new ChatReader(wish.onText, () => performance.now() - startMs);
  if (response.ok && wish.stream && response.body !== null) await reader.readStream(response.body);
  else reader.take((await response.json().catch(() => ({}))) as ChatJson);
  return {
    ...reader.result(),
    ok: response.ok && !reader.hasError,
    status: response.status,
    headers,
    totalMs: performance.now() - startMs,
  };
}

/** The same, for a change: throws what went wrong. */
export async function chat(wish: ChatWish): Promise<ChatOutcome> {
  const outcome = await sendChat(wish);
  if (!outcome.ok) throw new Error(outcome.text);
  return outcome;
}

/** Names of the models a key may use. Throws what it is refused with. */
export async function listModels(apiKey: string): Promise<string[]> {
  const response = await fetch('/v1/models', {
    headers: { authorization: `Bearer ${apiKey}` },
    credentials: 'omit',
  });
  const body = (await response.json()) as { data?: { id: string }[]; error?: { message: string } };
  if (!response.ok) throw new Error(body.error?.message ?? `Status ${response.status}`);
  return body.data?.map(({ id }) => id) ?? [];
}

function bodyOf({ model, prompt, system, stream }: ChatWish): object {
  const first = system === undefined || system === '' ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...first, { role: 'user', content: prompt }],
    ...(stream ? { stream } : {}),
  };
}

/** Puts an answer together, whether it came whole or in chunks. */
class ChatReader {
  private text = '';
  private usage: Usage | undefined;
  private costUsd: number | null = null;
  private ttftMs: number | null = null;
  hasError = false;

  constructor(
    private readonly onText: ((text: string) => void) | undefined,
    private readonly elapsedMs: () => number,
  ) {}

  async readStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    const reader = body.getReader();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.takeLine(line);
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
    this.takeLine(rest);
  }

  private takeLine(line: string): void {
    const data = /^data:\s*(.*?)\r?$/.exec(line)?.[1];
    if (data === undefined || data === '' || data === '[DONE]') return;
    this.take(JSON.parse(data) as ChatJson);
  }

  take(json: ChatJson): void {
    const [choice] = json.choices ?? [];
    const text = choice?.delta?.content ?? choice?.message?.content ?? '';
    if (json.error !== undefined) this.hasError = true;
    if (text !== '' || json.error !== undefined) this.ttftMs ??= this.elapsedMs();
    this.text += text + (json.error?.message ?? '');
    this.usage = json.usage ?? this.usage;
    this.costUsd = json.cost_usd ?? this.costUsd;
    if (text !== '') this.onText?.(this.text);
  }

  result() {
    return {
      text: this.text,
      costUsd: this.costUsd,
      tokensIn: this.usage?.prompt_tokens ?? null,
      tokensOut: this.usage?.completion_tokens ?? null,
      ttftMs: this.ttftMs,
    };
  }
}
