import { isObject, type JsonObject, parseJson } from '@llm0/core/chat/json';
import { JsonLook, UNBOUNDED } from '@llm0/core/chat/json-bounds';

/** A message of a client. */
export interface ClientEvent {
  readonly type: unknown;
  /** Requests of one stream wait for each other. */
  readonly streamId: unknown;
  /** False: the request is only kept for the next one. */
  readonly generates: boolean;
  /** False: the answer stays in the connection. */
  readonly stores: boolean;
  /** JSON text of the `POST` that means the same. */
  readonly body: string;
}

export const CREATE = 'response.create';

/** Members about the connection, and those that are changed; all others keep their text. */
const CONTROLS = ['type', 'stream_id', 'generate', 'stream', 'store'] as const;
const STREAM = '"stream":true';
/** Longer than any meaningful values. */
const MAX_CONTROLS_LENGTH = 2_000;

/** Reads a message in slices. Invalid JSON, and other values than an object, are requests that are refused as such. */
export async function readEvent(text: string): Promise<ClientEvent> {
  const look = new JsonLook(UNBOUNDED);
  const excess = await look.pushInSlices(text);
  const isObjectText = excess === undefined && !look.isOpen && text.trimStart().startsWith('{');
  if (!isObjectText || text.slice(look.cuts.at(-1)).trim() !== '}') return asIs(text);
  const controls = new Map<string, string>();
  const others: string[] = [];
  let from = text.indexOf('{') + 1;
  for (const cut of look.cuts) {
    const member = text.slice(from, cut);
    const control = CONTROLS.find((name) => member.trimStart().startsWith(`"${name}"`));
    if (control === undefined) others.push(member);
    else controls.set(control, member);
    from = cut + 1;
  }
  const { type, stream_id: streamId, generate, store } = valuesOf([...controls.values()]);
  const kept = controls.get('store');
  others.push(...(kept === undefined ? [] : [kept]), STREAM);
  const body = `{${others.join(',')}}`;
  return { type, streamId: streamId ?? undefined, generates: generate !== false, stores: store !== false, body };
}

const asIs = (body: string): ClientEvent => ({
  ...{ type: CREATE, streamId: undefined, generates: true, stores: true, body },
});

/** Empty for invalid values. */
function valuesOf(members: readonly string[]): JsonObject {
  const text = `{${members.join(',')}}`;
  const values = text.length > MAX_CONTROLS_LENGTH ? undefined : parseJson(text);
  return isObject(values) ? values : {};
}
