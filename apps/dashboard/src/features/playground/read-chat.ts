import { formatTarget } from '../../format/format-target';
import type { ToolCall } from './conversation';
import type { Media } from './media';
import { isObject } from './prepare-body';

/** The gateway's error for an unserved request. */
export interface ChatFault {
  readonly message: string;
  readonly code: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  readonly attempts: readonly string[];
}

/** The received part of an answer. */
export interface ChatSoFar {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly media: readonly Media[];
}

export interface ChatResult extends ChatSoFar {
  readonly finishReason: string | null;
  readonly fault: ChatFault | null;
  readonly costUsd: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly ttftMs: number | null;
}

interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** Fields of a chunk or an answer that the playground reads. */
export interface ChatJson {
  readonly choices?: readonly {
    readonly delta?: Delta;
    readonly message?: Delta;
    readonly finish_reason?: string | null;
  }[];
  /** Of pictures with other names. */
  readonly usage?: Partial<Record<`${'prompt' | 'completion' | 'input' | 'output'}_tokens`, number>> | null;
  readonly cost_usd?: number;
  readonly error?: unknown;
}

/** Assembles an answer, whole or in chunks. */
export class ChatReader {
  private text = '';
  private reasoning = '';
  private calls: ToolCall[] = [];
  private media: readonly Media[] = [];
  private finishReason: string | null = null;
  private fault: ChatFault | null = null;
  private usage: ChatJson['usage'];
  private costUsd: number | null = null;
  private ttftMs: number | null = null;

  constructor(
    private readonly onPart: ((soFar: ChatSoFar) => void) | undefined,
    private readonly elapsedMs: () => number,
  ) {}

  /** Server-sent events, cut anywhere. */
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
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
    if (data === '' || data === '[DONE]') return;
    this.take(JSON.parse(data) as ChatJson);
  }

  take(json: ChatJson): void {
    const [choice] = json.choices ?? [];
    const delta = choice?.delta ?? choice?.message ?? {};
    const text = delta.content ?? delta.refusal ?? '';
    const reasoning = delta.reasoning_content ?? '';
    const isOutput = text !== '' || reasoning !== '' || (delta.tool_calls ?? []).length > 0;
    if (isOutput) this.ttftMs ??= this.elapsedMs();
    this.text += text;
    this.reasoning += reasoning;
    for (const [place, call] of (delta.tool_calls ?? []).entries()) this.takeCall(call.index ?? place, call);
    this.finishReason = choice?.finish_reason ?? this.finishReason;
    if (json.error !== undefined) this.fault = readFault(json.error);
    this.usage = json.usage ?? this.usage;
    this.costUsd = json.cost_usd ?? this.costUsd;
    if (isOutput) this.onPart?.(this.soFar());
  }

  takeMedia(media: readonly Media[]): void {
    this.media = media;
  }

  private takeCall(at: number, { id, function: fn }: NonNullable<Delta['tool_calls']>[number]): void {
    const before = this.calls[at] ?? { id: '', name: '', arguments: '' };
    const call = {
      id: id ?? before.id,
      name: fn?.name ?? before.name,
      arguments: before.arguments + (fn?.arguments ?? ''),
    };
    this.calls = this.calls.toSpliced(at, 1, call);
  }

  private soFar = (): ChatSoFar => ({
    ...{ text: this.text, reasoning: this.reasoning, toolCalls: this.calls, media: this.media },
  });

  result(): ChatResult {
    return {
      ...this.soFar(),
      finishReason: this.finishReason,
      fault: this.fault,
      costUsd: this.costUsd,
      tokensIn: this.usage?.prompt_tokens ?? this.usage?.input_tokens ?? null,
      tokensOut: this.usage?.completion_tokens ?? this.usage?.output_tokens ?? null,
      ttftMs: this.ttftMs,
    };
  }
}

/** Parses the gateway's error, and describes any other content. */
export function readFault(error: unknown, status?: number): ChatFault {
  const told = isObject(error) ? error : {};
  const attempts = (Array.isArray(told.attempts) ? told.attempts : []).filter(isObject);
  return {
    message: typeof told.message === 'string' ? told.message : `The answer has status ${status ?? 'unknown'}.`,
    code: typeof told.code === 'string' ? told.code : 'unknown',
    param: typeof told.param === 'string' ? told.param : null,
    retryAfterSeconds: typeof told.retry_after === 'number' ? told.retry_after : null,
    attempts: attempts.map(
      ({ provider, model, failure, status: code }) =>
        `${formatTarget({ provider: String(provider), model: String(model) })}: ${failure}${code === undefined ? '' : ` (${code})`}`,
    ),
  };
}
