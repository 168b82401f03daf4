import { type ScimResource, scimPatch } from 'scim-patch';
import { type Attribute, COMMON, findAttribute, resolveName, type Shape } from './attributes';
import { parseValueFilter, writeFilter } from './parse-filter';
import { ScimRefused } from './scim-error';
import { asObject, type Complex, listOf, shapeOne, shapeResource, shapeValue, type Value } from './shape-resource';

const MOST_OPERATIONS = 1000;
const MOST_CHARACTERS = 1000;
const OPS = ['add', 'replace', 'remove'] as const;
type Op = (typeof OPS)[number];

/** An operation whose names and value are known and have their own form. */
interface Step {
  readonly op: Op;
  readonly attribute: Attribute;
  /** Selects values of a list. */
  readonly filter: string | undefined;
  readonly part: Attribute | undefined;
  readonly value: Value | undefined;
}

/** The resource after a PATCH of RFC 7644, 3.5.2. `before` has the attributes that clients may set. */
export function applyPatch(shape: Shape, before: Complex, body: unknown): Complex {
  let after = structuredClone(before);
  for (const { op, path, value } of readOperations(body)) {
    for (const step of path === undefined ? spread(shape, op, value) : readStep(shape, op, path, value)) {
      after = apply(after, step);
    }
  }
  return onePrimary(shapeResource(shape, after), before);
}

interface Operation {
  readonly op: Op;
  readonly path: string | undefined;
  readonly value: unknown;
}

function readOperations(body: unknown): readonly Operation[] {
  const given = fold(asObject('The body', body)).operations;
  if (!Array.isArray(given) || given.length === 0) throw syntax('Operations must be a list with at least one.');
  if (given.length > MOST_OPERATIONS) throw syntax(`Operations may have at most ${MOST_OPERATIONS}.`);
  return given.map((one) => {
    const { op: name, path, value } = fold(asObject('An operation', one));
    const op = OPS.find((known) => typeof name === 'string' && known === name.toLowerCase());
    if (op === undefined) throw syntax('op must be add, replace or remove.');
    if (path !== undefined && path !== null && typeof path !== 'string') throw badPath('path must be a string.');
    return { op, path: path || undefined, value };
  });
}

/** Names have no case. */
const fold = (given: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));

/** An operation without a path is one for each attribute of its value; those that are only read are left out. */
function spread(shape: Shape, op: Op, value: unknown): readonly Step[] {
  if (op === 'remove') throw new ScimRefused('noTarget', 'remove needs a path.');
  const given = Object.entries(asObject('value', value));
  return given.flatMap(([name, one]) =>
    isReadOnly(findAttribute(COMMON, name)) ? [] : readStep(shape, op, name, one, true),
  );
}

/** Nothing for a path to what the gateway doesn't keep. */
function readStep(shape: Shape, op: Op, path: string, value: unknown, isLenient = false): readonly Step[] {
  if (path.length > MOST_CHARACTERS) throw badPath(`path may have at most ${MOST_CHARACTERS} characters.`);
  const [from, to] = [path.indexOf('['), path.lastIndexOf(']')];
  if (from === -1 ? to !== -1 : to < from) throw badPath('path is not one of RFC 7644.');
  const isFiltered = from !== -1;
  const found = resolveName(shape, isFiltered ? path.slice(0, from) + path.slice(to + 1) : path);
  if (found === undefined) return [];
  const { attribute, part } = found;
  if (isReadOnly(attribute) || isReadOnly(part)) {
    if (isLenient) return [];
    throw new ScimRefused('mutability', `${attribute.name} can't be set.`);
  }
  if (isFiltered && attribute.isMulti !== true) throw badPath(`${attribute.name} isn't a list.`);
  const filter = isFiltered ? writeFilter(parseValueFilter(attribute, path.slice(from + 1, to))) : undefined;
  return [{ op, attribute, filter, part, value: shapeOf({ attribute, part, isFiltered }, value) }];
}

const isReadOnly = (attribute: Attribute | undefined) => attribute?.mutability === 'readOnly';

function shapeOf(
  { attribute, part, isFiltered }: { attribute: Attribute; part: Attribute | undefined; isFiltered: boolean },
  value: unknown,
): Value | undefined {
  if (value === null || value === undefined) return undefined;
  if (part !== undefined) return shapeValue(part, value);
  return isFiltered ? shapeOne(attribute, [value].flat()[0]) : shapeValue(attribute, value);
}

function apply(before: Complex, { op, attribute, filter, part, value }: Step): Complex {
  const { name } = attribute;
  const isEmpty = listOf(before[name]).length === 0;
  // A part of a list without a filter means that of all its values.
  const selected = filter ?? (attribute.isMulti && part ? 'value pr' : undefined);
  const path = `${name}${selected === undefined ? '' : `[${selected}]`}${part === undefined ? '' : `.${part.name}`}`;
  const isRemoval = op === 'remove' || (op === 'replace' && value === undefined);
  if (isRemoval && selected === undefined && part === undefined)
    return without(before, name, op === 'remove' ? value : undefined);
  if (isRemoval)
    return (selected !== undefined && isEmpty) || before[name] === undefined
      ? before
      : patch(before, { op: 'remove', path });
  return value === undefined ? before : patch(before, { op, path, value });
}

/** Without an attribute, or without some values of a list. Entra names these in `value`. */
function without(before: Complex, name: string, value: Value | undefined): Complex {
  const { [name]: list, ...rest } = before;
  const gone = new Set(listOf(value).map(keyOf));
  const left = gone.size === 0 ? [] : listOf(list).filter((one) => !gone.has(keyOf(one)));
  return left.length === 0 ? rest : { ...rest, [name]: left };
}

const keyOf = (one: string | Complex) => (typeof one === 'string' ? one : String(one.value));

/** Names and values are the gateway's own by now, so no path reaches a prototype. */
function patch(
  before: Complex,
  operation: { readonly op: Op; readonly path: string; readonly value?: Value },
): Complex {
  const resource = { schemas: [], meta: {}, ...before } as unknown as ScimResource;
  try {
    const {
      schemas: _,
      meta: __,
      ...after
    } = scimPatch(resource, [operation as Parameters<typeof scimPatch>[1][number]]);
    return after as unknown as Complex;
  } catch (cause) {
    throw new ScimRefused('noTarget', `Nothing is at ${operation.path.slice(0, 200)}.`, cause);
  }
}

/** A new primary value takes the place of the one before. */
function onePrimary(after: Complex, before: Complex): Complex {
  const emails = listOf(after.emails);
  const primaries = emails.filter(isPrimary);
  if (primaries.length < 2) return after;
  const known = new Set(listOf(before.emails).filter(isPrimary).map(keyOf));
  const chosen = primaries.find((one) => !known.has(keyOf(one))) ?? primaries.at(-1);
  const settle = (one: string | Complex) =>
    one === chosen || typeof one === 'string' ? one : { ...one, primary: false };
  return { ...after, emails: emails.map(settle) };
}

const isPrimary = (one: string | Complex) => typeof one !== 'string' && one.primary === true;
const syntax = (message: string) => new ScimRefused('invalidSyntax', message);
const badPath = (message: string) => new ScimRefused('invalidPath', message);
