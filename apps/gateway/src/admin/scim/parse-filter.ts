import type { Comparison, ScimFilter } from '@llm0/drizzle/queries/scim/filter';
import { type Filter, parse } from 'scim2-parse-filter';
import { type Attribute, resolveName, type Shape } from './attributes';
import { ScimRefused } from './scim-error';

const MOST_CHARACTERS = 1000;
/** The parser takes exponential time for line breaks in an open quote. JSON escapes them, so no filter has one. */
const UNPRINTABLE = /\p{Cc}/u;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Finds an attribute by its name in a filter; `isIn` for a filter of its values. */
type Find = (name: string) => { readonly name: string; readonly attribute: Attribute } | undefined;

/** A filter of this kind of resource, with the names of RFC 7643. Throws `invalidFilter`. */
export const parseFilter = (shape: Shape, text: string): ScimFilter => translate(parseText(text), findIn(shape));

/** A filter of the values of one attribute. */
export const parseValueFilter = (attribute: Attribute, text: string): ScimFilter =>
  translate(parseText(text), findPart(attribute));

function parseText(text: string): Filter {
  if (text.length > MOST_CHARACTERS) throw refused(`may have at most ${MOST_CHARACTERS} characters`);
  if (UNPRINTABLE.test(text)) throw refused("can't have control characters");
  try {
    return parse(text);
  } catch (cause) {
    throw new ScimRefused('invalidFilter', 'filter is not one of RFC 7644.', cause);
  }
}

const findIn =
  (shape: Shape): Find =>
  (name) => {
    const found = resolveName(shape, name);
    if (found === undefined) return undefined;
    const { attribute, part } = found;
    return { name: part ? `${attribute.name}.${part.name}` : attribute.name, attribute: part ?? attribute };
  };

const findPart =
  ({ parts = [] }: Attribute): Find =>
  (name) => {
    const part = parts.find((one) => one.name.toLowerCase() === name.toLowerCase());
    return part && { name: part.name, attribute: part };
  };

function translate(filter: Filter, find: Find): ScimFilter {
  if ('filters' in filter) {
    return { op: filter.op, filters: filter.filters.map((one) => translate(one, find)) };
  }
  if (filter.op === 'not') return { op: 'not', filter: translate(filter.filter, find) };
  const found = find(filter.attrPath);
  if (found === undefined) throw refused(`names ${filter.attrPath.slice(0, 100)}, which the gateway doesn't keep`);
  const { name, attribute } = found;
  if (filter.op === '[]')
    return { op: '[]', attribute: name, filter: translate(filter.valFilter, findPart(attribute)) };
  const value = 'compValue' in filter ? filter.compValue : null;
  const [list, part] = name.split('.');
  // `emails.value` asks for any of them.
  const isOfList = part !== undefined && list !== undefined && find(list)?.attribute.isMulti === true;
  const compared: ScimFilter =
    filter.op === 'pr'
      ? { op: 'pr', attribute: isOfList ? part : name }
      : { op: filter.op, attribute: isOfList ? part : name, value: comparedWith(attribute, filter.op, value) };
  return isOfList ? { op: '[]', attribute: list, filter: compared } : compared;
}

function comparedWith({ name, type }: Attribute, op: Comparison, value: unknown): string | boolean | null {
  if (value === null) return null;
  if (type === 'boolean') {
    const text = String(value).toLowerCase();
    if ((op === 'eq' || op === 'ne') && (text === 'true' || text === 'false')) return text === 'true';
    throw refused(`compares ${name} with something else than true or false`);
  }
  if (typeof value !== 'string') throw refused(`must compare ${name} with a string`);
  if (type === 'dateTime' && (!INSTANT.test(value) || Number.isNaN(Date.parse(value)) || TEXT_ONLY.has(op))) {
    throw refused(`must compare ${name} with a time such as 2026-01-31T12:00:00Z`);
  }
  return value;
}

const TEXT_ONLY: ReadonlySet<Comparison> = new Set(['co', 'sw', 'ew']);

/** A filter as text again. */
export function writeFilter(filter: ScimFilter): string {
  if ('filters' in filter) {
    return `(${filter.filters.map(writeFilter).join(` ${filter.op} `)})`;
  }
  if (filter.op === 'not') return `not (${writeFilter(filter.filter)})`;
  if (filter.op === '[]') return `${filter.attribute}[${writeFilter(filter.filter)}]`;
  return filter.op === 'pr'
    ? `${filter.attribute} pr`
    : `${filter.attribute} ${filter.op} ${JSON.stringify(filter.value)}`;
}

const refused = (why: string) => new ScimRefused('invalidFilter', `filter ${why}.`);
