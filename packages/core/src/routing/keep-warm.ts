import type { ChatMessage, ChatRequest } from '../chat/request';
import type { Route, RoutingTables } from './routing-tables';
import { isSameTarget } from './target';

export interface Conversation {
  readonly projectId: string;
  /** `X-LLM0-Session`. */
  readonly session: string | undefined;
  readonly request: Pick<ChatRequest, 'messages'>;
}

/** Characters of one message; the rest rarely distinguishes conversations. */
const MAX_CHARACTERS = 4096;

/**
 * Moves the target with the conversation's cached prompt to the front, and names it for the record. Only for aliases
 * with several targets, because fallbacks are other models.
 */
export function keepWarm(
  route: Route,
  conversation: Conversation,
  { warmTargets, health }: Pick<RoutingTables, 'warmTargets' | 'health'>,
): Route {
  if (route.keepsConversations !== true || route.targets.length === 1) return route;
  const { messages } = conversation.request;
  const explicit = conversation.session;
  const start = explicit ?? beginningOf(messages);
  if (start === undefined) return route;
  const kind = explicit === undefined ? 'prefix' : 'session';
  const session = hash(`${conversation.projectId}\n${route.scope}\n${kind}\n${start}`);
  const named = { ...route, session };
  // A new conversation follows the strategy, so that equal beginnings spread.
  const isContinued = explicit !== undefined || messages.some(({ role }) => role === 'assistant');
  const warm = isContinued ? warmTargets.find(session) : undefined;
  const [first] = route.targets;
  if (warm === undefined) return named;
  if (isSameTarget(warm, first)) return { ...named, isWarm: true };
  const kept = route.targets.find((target) => isSameTarget(target, warm));
  if (kept === undefined || health.isOpen(kept)) return named;
  const rest = route.targets.filter((target) => target !== kept);
  const targets = [kept, ...rest] as const;
  if (route.strategy !== 'priority') return { ...named, targets, isWarm: true };
  // The operator's first choice is skipped, and reported.
  const passedOver = [...(route.passedOver ?? []), { target: first, reason: 'session_affinity' as const }];
  return { ...named, targets, passedOver, isWarm: true };
}

/** Identity of a conversation: its instructions and first message. */
function beginningOf(messages: readonly ChatMessage[]): string | undefined {
  const first = messages.findIndex(({ role }) => role === 'user');
  if (first === -1) return undefined;
  return messages
    .slice(0, first + 1)
    .map(textOf)
    .join('\n');
}

function textOf({ role, content }: ChatMessage): string {
  let text = `${role}:`;
  for (const part of content) {
    if (text.length >= MAX_CHARACTERS) break;
    text += part.type === 'text' ? part.text.slice(0, MAX_CHARACTERS) : part.type;
  }
  return text;
}

const hash = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'base64url');
