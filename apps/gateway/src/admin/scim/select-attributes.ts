import { resolveName, type Shape } from './attributes';
import { ScimRefused } from './scim-error';

type Shown = Readonly<Record<string, unknown>>;

/** `attributes` and `excludedAttributes` of a request. */
export interface Selection {
  readonly only: readonly Name[] | undefined;
  readonly without: readonly Name[];
}

interface Name {
  readonly name: string;
  readonly part: string | undefined;
}

const MOST_CHARACTERS = 2000;
const ALWAYS = new Set(['schemas', 'id']);

export function readSelection(shape: Shape, query: (name: string) => string | undefined): Selection {
  const namesOf = (text: string | undefined) => (text === undefined ? undefined : readNames(shape, text));
  return { only: namesOf(query('attributes')), without: namesOf(query('excludedAttributes')) ?? [] };
}

/** Unknown names select nothing. */
function readNames(shape: Shape, text: string): readonly Name[] {
  if (text.length > MOST_CHARACTERS) throw new ScimRefused('invalidValue', 'attributes has too many names.');
  return text.split(',').flatMap((one) => {
    const found = resolveName(shape, one.trim());
    return found === undefined ? [] : [{ name: found.attribute.name, part: found.part?.name }];
  });
}

/** True unless the answer leaves the attribute out, which then needs no look-up. */
export function isSelected({ only, without }: Selection, name: string): boolean {
  const isIn = (names: readonly Name[]) => names.some((one) => one.name === name);
  return only === undefined ? !without.some((one) => one.name === name && one.part === undefined) : isIn(only);
}

/** The attributes that the request asks for. `id` and `schemas` are always there. */
export function selectAttributes(resource: Shown, { only, without }: Selection): Shown {
  const shown = Object.entries(resource).flatMap(([name, value]): [string, unknown][] => {
    if (ALWAYS.has(name)) return [[name, value]];
    const asked = only?.filter((one) => one.name === name);
    if (asked?.length === 0) return [];
    const left = without.filter((one) => one.name === name);
    if (left.some(({ part }) => part === undefined)) return [];
    const parts = asked?.some(({ part }) => part === undefined) ? undefined : asked?.map(({ part }) => part);
    return [[name, cut(value, (part) => (parts?.includes(part) ?? true) && !left.some((one) => one.part === part))]];
  });
  return Object.fromEntries(shown);
}

function cut(value: unknown, isKept: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => cut(one, isKept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isKept(part)));
}
