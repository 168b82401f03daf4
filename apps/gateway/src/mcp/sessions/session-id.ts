import { isObject, type JsonObject, parseJson, present } from '@llm0/core/chat/json';
import { type ClientFacts, LEGACY_VERSIONS } from '../wire/protocol';
import { digestOf } from './ended-sessions';

/**
 * Encodes a client's `initialize` data in the session id, so that any process can read it and none stores it. The id
 * grants nothing: each request needs its key, and a session belongs to one key.
 */
const PREFIX = 's1.';
const MAX_LENGTH = 4096;
const MAX_NAME = 64;
/** Capabilities that servers may request from a client. */
const ABILITIES = ['elicitation', 'sampling', 'roots'] as const;

/** A new session's id: visible ASCII, 122 random bits. */
export function createSessionId({ version, capabilities, info }: ClientFacts, keyId: string): string {
  const random = crypto.randomUUID();
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? value.slice(0, MAX_NAME) : undefined;
  const told = {
    v: version,
    c: present({
      ...Object.fromEntries(ABILITIES.map((name) => [name, small(capabilities[name])])),
    }) as JsonObject,
    n: text(info?.name),
    w: text(info?.version),
    r: random,
    k: markOf(keyId, random),
  };
  return `${PREFIX}${Buffer.from(JSON.stringify(told)).toString('base64url')}`;
}

/** Capabilities are short; a long value only counts as present. */
function small(value: unknown): JsonObject | undefined {
  if (!isObject(value as JsonObject)) return undefined;
  return JSON.stringify(value).length <= 256 ? (value as JsonObject) : {};
}

/** Identifies the key without revealing it to others. */
const markOf = (keyId: string, random: string): string => digestOf(`${keyId}\n${random}`).slice(0, 22);

/** undefined for a foreign id or another key's. */
export function readSessionId(id: string, keyId: string): ClientFacts | undefined {
  if (!id.startsWith(PREFIX) || id.length > MAX_LENGTH) return undefined;
  const told = parseJson(Buffer.from(id.slice(PREFIX.length), 'base64url').toString());
  if (!isObject(told) || !isObject(told.c) || typeof told.r !== 'string') return undefined;
  if (told.k !== markOf(keyId, told.r)) return undefined;
  const version = LEGACY_VERSIONS.find((known) => known === told.v);
  if (version === undefined) return undefined;
  const { n: name, w: released, c: capabilities } = told;
  if (typeof name !== 'string' || typeof released !== 'string') return { era: 'legacy', version, capabilities };
  return { era: 'legacy', version, capabilities, info: { name, version: released } };
}
