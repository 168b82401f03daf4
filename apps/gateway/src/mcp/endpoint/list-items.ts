import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import { mayCall, type Naming, serversOf } from '../calls/find-tool';
import type { JudgeItems } from '../calls/guard-list';
import { mayUseAll } from '../calls/tool-rights';
import { LISTS, type ListKind } from '../lists/read-list';
import { joinUri } from '../lists/resource-names';
import type { ServerEntry } from '../servers/server-entry';
import { META } from '../wire/protocol';
import { CallRefusal } from './mcp-errors';

/** Omitted items, with the reason. */
export interface Notice {
  readonly server: string;
  readonly notice: string;
}

interface Part {
  readonly items: readonly JsonObject[];
  readonly leftMs: number;
  readonly notices: readonly Notice[];
}

const MAX_SHOWN = 10;
/** A list that lacks something is asked for again soon. */
const NOTICED_TTL_MS = 5000;

/** One list of all servers that a key may use; a server that fails is left out, with a notice, and the others stay. */
export async function listItems(
  naming: Naming,
  kind: ListKind,
  { params, judge }: { readonly params: JsonObject; readonly judge: JudgeItems },
): Promise<JsonObject> {
  if (params.cursor !== undefined) {
    throw new CallRefusal('invalid_request', 'This list has one page: there is no "cursor".', {
      code: -32602,
      param: 'cursor',
    });
  }
  const entries = serversOf(naming).filter(
    ({ server }) => kind === 'tools' || mayUseAll(naming.patterns, server.alias),
  );
  const read = await Promise.all(entries.map((entry) => readPart(naming, entry, kind)));
  const parts = await Promise.all(
    read.map((part, index) => judgePart(part, entries[index]?.server.alias ?? '', judge)),
  );
  const notices = parts.flatMap((part) => part.notices);
  // A scoped request has no other server to show.
  if (naming.scope !== undefined && parts[0]?.leftMs === FAILED) {
    throw new GatewayError('upstream_error', notices[0]?.notice ?? 'The server failed.');
  }
  const leftMs = Math.min(...parts.map((part) => Math.max(0, part.leftMs)), 3_600_000);
  return {
    [kind]: parts.flatMap(({ items }) => items),
    ttlMs: Math.floor(notices.length > 0 ? Math.min(leftMs, NOTICED_TTL_MS) : leftMs),
    cacheScope: 'private',
    ...(notices.length === 0 ? {} : { _meta: { [META.notices]: notices.map((notice) => ({ ...notice })) } }),
  };
}

const FAILED = -1;

/** A server's part after the guardrails. */
async function judgePart(part: Part, alias: string, judge: JudgeItems): Promise<Part> {
  const items = await judge(part.items);
  const notices: Notice[] = [];
  for (const notice of part.notices) {
    const [told] = await judge([notice]);
    notices.push(told ?? { server: alias, notice: 'Left out: it failed.' });
  }
  const left = part.items.length - items.length;
  if (left > 0) notices.push({ server: alias, notice: `Left out by guardrails of this project: ${left}` });
  return { ...part, items, notices };
}

async function readPart(naming: Naming, entry: ServerEntry, kind: ListKind): Promise<Part> {
  const { alias } = entry.server;
  try {
    return kind === 'tools' ? await readTools(naming, entry) : await readNamed(naming, entry, kind);
  } catch (cause) {
    const why = cause instanceof GatewayError ? cause.message : `${alias} failed.`;
    return { items: [], leftMs: FAILED, notices: [{ server: alias, notice: `Left out: ${why}` }] };
  }
}

async function readTools(naming: Naming, entry: ServerEntry): Promise<Part> {
  const { alias } = entry.server;
  const { value, leftMs } = await entry.tools.current();
  const mine = value.list.filter(({ name }) => mayCall(naming, entry, name));
  const items = mine.map(({ name, tool }) =>
    naming.scope === undefined ? { ...tool, name: joinToolName(alias, name) } : tool,
  );
  const held = value.heldBack.filter((name) => mayCall(naming, entry, name));
  const notices: Notice[] = [];
  if (held.length > 0) {
    const names = held.slice(0, MAX_SHOWN).join(', ');
    notices.push({ server: alias, notice: `Held back until the operator approves what the server changed: ${names}` });
  }
  if (value.odd > 0) {
    notices.push({ server: alias, notice: `${value.odd} tools have names or schemas that no client can use.` });
  }
  return { items, leftMs, notices };
}

async function readNamed(naming: Naming, entry: ServerEntry, kind: Exclude<ListKind, 'tools'>): Promise<Part> {
  const { alias } = entry.server;
  const { value, leftMs } = await entry.listOf(kind).current();
  const rename = RENAMED[kind];
  return { items: naming.scope === undefined ? value.map((item) => rename(alias, item)) : value, leftMs, notices: [] };
}

const RENAMED = {
  prompts: (alias, item) => ({ ...item, name: joinToolName(alias, String(item.name)) }),
  resources: (alias, item) => ({ ...item, uri: joinUri(alias, String(item.uri)) }),
  resourceTemplates: (alias, item) => ({ ...item, uriTemplate: joinUri(alias, String(item.uriTemplate)) }),
} as const satisfies Record<Exclude<ListKind, 'tools'>, (alias: string, item: JsonObject) => JsonObject>;

/** Combined capabilities of a key's servers, without failed ones. */
export async function abilitiesOf(naming: Naming): Promise<JsonObject> {
  const all = await Promise.all(
    serversOf(naming).map((entry) =>
      entry.upstream.facts().then(
        ({ capabilities }) => ({ capabilities, alias: entry.server.alias }),
        () => undefined,
      ),
    ),
  );
  const has = (ability: string, isWhole: boolean) =>
    all.some((one) => {
      if (one === undefined || (isWhole && !mayUseAll(naming.patterns, one.alias))) return false;
      return isObject(one.capabilities[ability]);
    });
  return {
    tools: { listChanged: true },
    ...(has(LISTS.resources.ability, true) ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(has(LISTS.prompts.ability, true) ? { prompts: { listChanged: true } } : {}),
    ...(has('completions', true) ? { completions: {} } : {}),
    ...(has('logging', false) ? { logging: {} } : {}),
  };
}
