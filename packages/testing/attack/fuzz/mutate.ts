import type { Random } from '../../chaos/random';
import { edgeText, edgeValue, type Json, pick } from './edge-values';

/** Where a value stands: what holds it, and by which name. */
interface Place {
  readonly holder: Json[] | { [name: string]: Json };
  readonly name: string;
}

const POLLUTING = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'toJSON'];
const DEEP = 150;

/** A copy of a request's body with something wrong in it. */
export function mutateJson(random: Random, original: Json): Json {
  let value = structuredClone(original);
  const times = 1 + Math.floor(random.next() * 3);
  for (let i = 0; i < times; i++) value = pick(random, MUTATIONS)(random, value);
  return value;
}

const MUTATIONS: readonly ((random: Random, value: Json) => Json)[] = [
  /** Deletes, */
  at((_random, { holder, name }) => {
    if (Array.isArray(holder)) holder.splice(Number(name), 1);
    else delete holder[name];
  }),
  /** says twice, */
  at((random, { holder, name }) => {
    const copy = structuredClone(get({ holder, name }));
    if (Array.isArray(holder)) holder.splice(Number(name), 0, copy);
    else put(holder, `${name}${pick(random, ['', ' ', '_', 's', '2'])}`, copy);
  }),
  /** puts another value or type, */
  at((random, place) => set(place, edgeValue(random))),
  at((random, place) => set(place, edgeValue(random))),
  /** wraps and unwraps, */
  at((random, place) => set(place, random.next() < 0.5 ? [get(place)] : { [edgeText(random)]: get(place) })),
  at((_random, place) => {
    const value = get(place);
    if (typeof value === 'object' && value !== null) set(place, Object.values(value)[0] ?? null);
  }),
  /** says it as text, */
  at((_random, place) => set(place, JSON.stringify(get(place)) ?? 'undefined')),
  /** renames, adds and pollutes, */
  at((random, { holder, name }) => {
    if (Array.isArray(holder)) return;
    const value = get({ holder, name });
    delete holder[name];
    put(holder, random.next() < 0.5 ? edgeText(random) : name.toUpperCase(), value);
  }),
  at((random, { holder }) => {
    if (Array.isArray(holder)) holder.push(edgeValue(random));
    else put(holder, pick(random, POLLUTING), edgeValue(random));
  }),
  /** repeats and goes deep, */
  at((random, { holder, name }) => {
    const value = get({ holder, name });
    if (Array.isArray(holder)) holder.push(...Array.from({ length: Math.floor(random.next() * 50) }, () => value));
    else
      set(
        { holder, name },
        Array.from({ length: Math.floor(random.next() * 50) }, () => value),
      );
  }),
  at((_random, place) => {
    let deep = get(place);
    for (let i = 0; i < DEEP; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
    set(place, deep);
  }),
  /** swaps two, */
  (random, value) => {
    const places = placesOf(value);
    const [one, other] = [pick(random, places), pick(random, places)];
    if (one === undefined || other === undefined) return value;
    const kept = get(one);
    set(one, structuredClone(get(other)));
    set(other, structuredClone(kept));
    return value;
  },
  /** or is something else altogether. */
  (random, value) => (random.next() < 0.3 ? edgeValue(random) : value),
];

function at(change: (random: Random, place: Place) => void): (random: Random, value: Json) => Json {
  return (random, value) => {
    const place = pick(random, placesOf(value));
    if (place !== undefined) change(random, place);
    return value;
  };
}

const MOST_PLACES = 500;

export function placesOf(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null || found.length > MOST_PLACES) return found;
  for (const name of Object.keys(value)) {
    found.push({ holder: value, name });
    placesOf((value as Record<string, Json>)[name] ?? null, found);
  }
  return found;
}

const get = ({ holder, name }: Place): Json => (holder as Record<string, Json>)[name] ?? null;
const set = ({ holder, name }: Place, value: Json) => put(holder, name, value);

/** As an own property, whatever its name. */
function put(holder: Place['holder'], name: string, value: Json): void {
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true });
}

/** Bytes that are no longer what they were: cut, turned, repeated, marked. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  const position = Math.floor(random.next() * (bytes.length + 1));
  const kind = Math.floor(random.next() * 6);
  if (kind === 0) return bytes.subarray(0, position);
  if (kind === 1) return bytes.subarray(position);
  if (kind === 2) return Buffer.concat([bytes, bytes]);
  if (kind === 3) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
  const changed = Buffer.from(bytes);
  if (kind === 4 && position < changed.length) changed[position] = Math.floor(random.next() * 256);
  if (kind === 5)
    return Buffer.concat([bytes.subarray(0, position), Buffer.from(edgeText(random)), bytes.subarray(position)]);
  return changed;
}
