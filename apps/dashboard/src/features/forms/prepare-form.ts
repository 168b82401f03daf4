import type { ComponentType } from 'react';
import { formatInstant } from '../../format/format-time';
import { formatUsdExact } from '../../format/format-usd';

/** Form values: typed text, flags. */
export type FormValues = Readonly<Record<string, string | boolean>>;

/** JSON of a field's text: empty is no limit (null). Money stays text to stay exact. */
export type FieldKind = 'text' | 'usd' | 'integer' | 'number' | 'list' | 'flag' | 'instant';

/** Props of a custom field control. */
export interface WidgetProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly error: string | null;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly emptyList?: string;
  readonly value: string;
  /** Values of all fields. */
  readonly values: FormValues;
  readonly onValue: (value: string) => void;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly hint?: string;
  readonly placeholder?: string;
  /** Choices: value → label. */
  readonly options?: Readonly<Record<string, string>>;
  /** Lines to write several things in, one a line. */
  readonly rows?: number;
  /** A custom control; its value is text as in others. */
  readonly widget?: ComponentType<WidgetProps>;
  /** Full width of the form. */
  readonly isWide?: boolean;
  /** Parses the text if its kind can't; throws the reason. */
  readonly read?: (text: string) => unknown;
  /** Formats a value that its kind can't format; the inverse of `read`. */
  readonly show?: (value: unknown) => string;
  /** Explains the parsed value; null: needs none. Money shows the amount and times show UTC by default. */
  readonly understood?: (value: unknown, values: FormValues) => string | null;
  /** Other fields' values that come with a new value of this one. */
  readonly resets?: (value: string) => FormValues;
  /** Hides the input. */
  readonly secret?: boolean;
  /** Label of an empty list, if that differs from no list. */
  readonly emptyList?: string;
  /** Left out when empty, instead of null. */
  readonly required?: boolean;
  /** Heading above the first field of a section. */
  readonly section?: string;
  /** Rarely used: folded under "More". */
  readonly isMore?: boolean;
}

/** Fields that a form shows at once, and those under "More"; fields that are all rare are shown at once. */
export function foldFields(specs: readonly FieldSpec[]) {
  const main = specs.filter(({ isMore }) => isMore !== true);
  if (main.length === 0) return { main: specs, more: [] };
  return { main, more: specs.filter(({ isMore }) => isMore === true) };
}

/** True if a field of a form has a value. */
export const isSet = ({ name }: FieldSpec, values: FormValues): boolean => String(values[name] || '').trim() !== '';

export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** `must be 1 or more` as a sentence about its field; a message that is one stays. */
export function describeFault(label: string, message: string): string {
  if (!/^[a-z]/.test(message)) return message;
  // The API may name the field: `budget_usd must be …`.
  const rest = message.replace(/^[a-z]+(?:_[a-z]+)+ (?=must )/, '');
  // A unit, as in `Latency, ms`, is no part of the name.
  return `${label.replace(/, [^,]+$/, '')} ${rest}${rest.endsWith('.') ? '' : '.'}`;
}

const READERS: Readonly<Record<FieldKind, (text: string) => unknown>> = {
  text: (text) => text,
  usd: (text) => {
    const plain = text.replace(/^\$\s*/, '');
    // A lone comma is a decimal one to half of the world, and 1,500 is 1.5 to it.
    if (/^\d+,\d+$/.test(plain)) throw new Error('is ambiguous: write 1500 or 1.50, without a comma');
    const isGrouped = /^\d{1,3}(,\d{3})+(\.\d{1,9})?$/.test(plain);
    if (!isGrouped && !/^\d+(\.\d{1,9})?$/.test(plain))
      throw new Error('must be an amount in USD, such as 25 or 0.005');
    return plain.replaceAll(',', '');
  },
  integer: (text) => {
    if (/^(?:-\d+|0+)$/.test(text)) throw new Error('must be 1 or more');
    if (!/^\d{1,10}$/.test(text)) throw new Error('must be a whole number, such as 60');
    return Number(text);
  },
  number: (text) => {
    if (/^-[\d.]+$/.test(text)) throw new Error('must not be negative');
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error('must be a number, such as 0.8');
    return Number(text);
  },
  list: (text) =>
    text
      .split(/[\s,]+/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  flag: (text) => text === 'true',
  instant: (text) => {
    const ms = Date.parse(text);
    if (!Number.isFinite(ms)) throw new Error('must be a date and time');
    return new Date(ms).toISOString();
  },
};

/** An amount as the API takes it, exact. Throws the reason. */
export const readUsd = (text: string): unknown => READERS.usd(text);

/** A whole number from 1. Throws the reason. */
export const readInteger = (text: string): unknown => READERS.integer(text);

/** An instant that is still to come, for things that would begin expired. Throws the reason. */
export function readFuture(text: string): unknown {
  const at = READERS.instant(text);
  if (Date.parse(String(at)) <= Date.now()) throw new Error('must be in the future');
  return at;
}

/** Converts form values to the API's JSON. Throws `FieldError` for an invalid value. */
export function readForm(specs: readonly FieldSpec[], values: FormValues): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, kind, required, emptyList, read = READERS[kind] } of specs) {
    const value = values[name];
    if (typeof value === 'boolean') {
      body[name] = value;
      continue;
    }
    const text = (value ?? '').trim();
    if (text === '') {
      if (required === true) throw new FieldError(name, 'is required');
      body[name] = null;
      continue;
    }
    try {
      body[name] = text === emptyList ? [] : read(text);
    } catch (error) {
      throw new FieldError(name, error instanceof Error ? error.message : 'is wrong');
    }
  }
  return body;
}

/** Changed fields of a form. */
export function changedFields(
  specs: readonly FieldSpec[],
  resource: object,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled = fillForm(specs, resource);
  const isChanged = (spec: FieldSpec) => {
    try {
      return JSON.stringify(readForm([spec], filled)[spec.name]) !== JSON.stringify(body[spec.name]);
    } catch {
      return true;
    }
  };
  return Object.fromEntries(specs.filter(isChanged).map(({ name }) => [name, body[name]]));
}

/** The input uses the browser's clock; the explanation shows the displayed one. */
const SAID: Partial<Record<FieldKind, (value: unknown) => string>> = {
  usd: (value) => formatUsdExact(Number(value)),
  instant: (value) =>
    `${formatInstant(String(value), 'utc')}${Date.parse(String(value)) < Date.now() ? ', which has passed' : ''}`,
};

/** Parsed value of a form's text, in words; null without one. */
export function readBack(
  { name, kind, understood, read = READERS[kind] }: FieldSpec,
  values: FormValues,
): string | null {
  const text = String(values[name] ?? '').trim();
  const say = understood ?? SAID[kind];
  if (say === undefined || text === '') return null;
  try {
    return say(read(text), values);
  } catch {
    return null;
  }
}

/** Converts a resource of the API to form values. */
export function fillForm(specs: readonly FieldSpec[], resource: object | null): FormValues {
  const given = (resource ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    specs.map(({ name, kind, emptyList, show }) => {
      const value = given[name];
      if (show !== undefined && value !== null && value !== undefined) return [name, show(value)];
      if (kind === 'flag') return [name, value === true];
      if (value === null || value === undefined) return [name, ''];
      if (Array.isArray(value)) return [name, value.length === 0 ? (emptyList ?? '') : value.join(', ')];
      if (kind === 'usd' && typeof value === 'number') return [name, plainUsd(value)];
      if (kind === 'instant') return [name, localInstant(String(value))];
      return [name, String(value)];
    }),
  );
}

/** An instant as a `datetime-local` field takes it: the clock of this browser, as exact as it was. */
function localInstant(at: string): string {
  const ms = Date.parse(at);
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString();
  return local.replace('Z', '').replace(/(:00)?\.000$/, '');
}

/** Without the exponent that small numbers get. */
const plainUsd = (usd: number) => usd.toFixed(9).replace(/\.?0+$/, '');
