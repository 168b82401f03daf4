import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { DroppedParameters } from './refuse-parameter';

export type MessageOf<R extends ChatMessage['role']> = Extract<ChatMessage, { role: R }>;
export type PartOf<K extends ContentPart['type']> = Extract<ContentPart, { type: K }>;

/** Encoders of a provider's content parts. */
export type PartEncoders<Context> = {
  readonly [K in ContentPart['type']]: (part: PartOf<K>, context: Context) => JsonObject[];
};

interface Refusing {
  readonly dropped: DroppedParameters;
}

/** For vendors with automatic caching: drops marks and reports them. */
export function encodeUnmarked<Context extends Refusing>(
  parts: readonly ContentPart[],
  encoders: PartEncoders<Context>,
  context: Context,
): JsonObject[] {
  return parts.flatMap((part) => {
    if ('cacheControl' in part && part.cacheControl !== undefined) context.dropped.note('cache_control');
    return encoders[part.type](part as never, context);
  });
}

export function refuseAudio(_part: PartOf<'audio'>, { dropped }: Refusing): JsonObject[] {
  dropped.refuse('messages', 'holds audio, which is not supported by');
  return [];
}

/** A part of another vendor's own. */
export function refuseRaw({ value }: PartOf<'raw'>, { dropped }: Refusing): JsonObject[] {
  dropped.refuse('messages', `holds a part of type "${String(value.type ?? 'unknown')}", which is unknown to`);
  return [];
}

export function refuseEarlierAudio({ raw }: MessageOf<'assistant'>, { dropped }: Refusing): void {
  if (raw?.value.audio != null) dropped.refuse('messages', 'holds earlier audio, which is unknown to');
}

export type Turn = { readonly role: 'user' | 'assistant'; readonly content: JsonObject[] };

export interface TurnRules extends Refusing {
  readonly encodeAssistant: (message: MessageOf<'assistant'>) => JsonObject[];
  readonly encodeResult: (message: MessageOf<'tool'>) => JsonObject[];
  readonly encodeParts: (parts: readonly ContentPart[]) => JsonObject[];
  /** Tool results must precede everything else in their turn. */
  readonly isResult: (block: JsonObject) => boolean;
}

export interface EncodedTurns {
  /** Blocks of all system and developer messages, in order. */
  readonly system: JsonObject[];
  readonly messages: Turn[];
}

const NOTHING_SAID = 'messages: All of them are empty or hold white space only. Send at least one with visible text.';

/**
 * Alternating turns: merges consecutive messages of a role, moves tool results to the user's turn, and separates system
 * and developer blocks in order.
 */
export function encodeTurns(messages: readonly ChatMessage[], rules: TurnRules): EncodedTurns {
  const { isResult, dropped } = rules;
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    if ('name' in message && message.name !== undefined && message.role !== 'tool') dropped.note('messages.name');
    const blocks = encodeMessage(message, rules);
    if (message.role === 'system' || message.role === 'developer') system.push(...blocks);
    else if (blocks.length > 0) {
      const role = message.role === 'assistant' ? 'assistant' : 'user';
      const last = turns.at(-1);
      if (last?.role === role) last.content.push(...blocks);
      else turns.push({ role, content: [...blocks] });
    }
  }
  // Vendors without empty texts would refuse an empty list, in words about a field that the caller filled.
  if (turns.length === 0 && system.length === 0) throw invalidRequest('messages', NOTHING_SAID);
  return {
    system,
    messages: turns.map(({ role, content }) => ({
      role,
      content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))],
    })),
  };
}

function encodeMessage(message: ChatMessage, rules: TurnRules): JsonObject[] {
  if (message.role === 'assistant') return rules.encodeAssistant(message);
  return message.role === 'tool' ? rules.encodeResult(message) : rules.encodeParts(message.content);
}
