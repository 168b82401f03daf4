import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { META } from '../wire/protocol';
import type { LegacySession } from './legacy-sessions';
import { nextMessageId } from './message-id';
import { modernHeaders, modernMeta, type Negotiating, sessionHeaders } from './negotiate';
import { openStream, postMessage } from './post-message';
import { AnswerReader } from './read-answer';
import type { NewsFilter, UpstreamFacts, UpstreamNews } from './upstream';

const NEWS: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/message',
]);

const MAX_NEWS_BYTES = 256 * 1024;
/** A stream may be silent for as long as nothing happens. */
const SILENCE_MS = 24 * 3_600_000;

const isDeclared = ({ capabilities }: Pick<UpstreamFacts, 'capabilities'>, of: string, what: string): boolean => {
  const ability = capabilities[of];
  return isObject(ability) && ability[what] === true;
};

/** One `subscriptions/listen`, until the signal fires or the server ends it. */
export async function listenModern(
  to: Negotiating,
  { lists, resources, client, signal, facts }: NewsFilter & { readonly facts: UpstreamFacts },
  onNews: (news: UpstreamNews) => void,
): Promise<void> {
  const notifications: JsonObject = {
    ...(lists && isDeclared(facts, 'tools', 'listChanged') ? { toolsListChanged: true } : {}),
    ...(lists && isDeclared(facts, 'prompts', 'listChanged') ? { promptsListChanged: true } : {}),
    ...(lists && isDeclared(facts, 'resources', 'listChanged') ? { resourcesListChanged: true } : {}),
    ...(resources.length > 0 ? { resourceSubscriptions: [...resources] } : {}),
  };
  if (Object.keys(notifications).length === 0) return;
  const id = nextMessageId();
  const method = 'subscriptions/listen';
  const params = { notifications, _meta: modernMeta({ ...client, capabilities: {} }, to.self) };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const fetched = await postMessage(to, { body, headers: modernHeaders(method), signal });
  await readNews(to, { fetched, id, signal }, (news) => {
    const { _meta: meta, ...rest } = news.params;
    if (isObject(meta) && meta[META.subscriptionId] === id) onNews({ method: news.method, params: rest });
  });
}

/** The stream of a session's notifications; older servers need not have one. */
export async function listenLegacy(
  to: Negotiating,
  { resources, signal, session }: NewsFilter & { readonly session: LegacySession },
  onNews: (news: UpstreamNews) => void,
): Promise<void> {
  const headers = sessionHeaders(session);
  for (const uri of resources) {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: nextMessageId(),
      method: 'resources/subscribe',
      params: { uri },
    });
    const { response } = await postMessage(to, { body, headers, signal });
    void response.body?.cancel().catch(() => {});
  }
  const fetched = await openStream(to, { headers, signal });
  if (fetched.response.status === 405) return void fetched.response.body?.cancel().catch(() => {});
  await readNews(to, { fetched, id: '', signal }, onNews);
}

interface Stream {
  readonly fetched: Awaited<ReturnType<typeof postMessage>>;
  readonly id: string;
  readonly signal: AbortSignal;
}

async function readNews(
  to: Negotiating,
  { fetched, id, signal }: Stream,
  onNews: (news: UpstreamNews) => void,
): Promise<void> {
  const { alias } = to.server;
  const { response } = fetched;
  if (!response.ok || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    void response.body?.cancel().catch(() => {});
    throw upstreamFailure('malformed', alias, `refuses change notifications (${response.status}).`);
  }
  const reader = new AnswerReader(fetched, { alias, id, signal, timeoutMs: SILENCE_MS, maxBytes: MAX_NEWS_BYTES });
  try {
    for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
      const { message } = read;
      if (message.kind === 'response') return;
      if (message.kind === 'notification' && NEWS.has(message.notification.method)) onNews(message.notification);
    }
  } finally {
    reader.close();
  }
}
