/** What stands in a form: text, as typed; flags. */
export type FormValues = Readonly<Record<string, string | boolean>>;

/** How a field's text becomes JSON: empty is no limit (null). Money stays text, so that it stays exact. */
export type FieldKind = 'text' | 'usd' | 'integer' | 'number' | 'list' | 'flag' | 'instant';

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly hint?: string;
  readonly placeholder?: string;
  /** A choice of a few: value → what it is called. */
  readonly options?: Readonly<Record<string, string>>;
  /** Lines to write several things in, one a line. */
  readonly rows?: number;
  /** Reads what was typed, where its kind alone does not say how; throws what is wrong with it. */
  readonly read?: (text: string) => unknown;
  /** Stands for a list with nothing in it, where that is not the same as no list. */
  readonly emptyList?: string;
  /** Left out when empty, instead of null. */
  readonly required?: boolean;
}

export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

const READERS: Readonly<Record<FieldKind, (text: string) => unknown>> = {
  text: (text) => text,
  usd: (text) => {
    const plain = text.replace(/^\$/, '').replaceAll(',', '');
    if (!/^\d+(\.\d{1,9})?$/.test(plain)) throw new Error('must be an amount in USD, such as 25 or 0.005');
    return plain;
  },
  integer: (text) => {
    if (!/^\d{1,10}$/.test(text)) throw new Error('must be a whole number');
    return Number(text);
  },
  number: (text) => {
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error('must be a number');
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

/** What was typed → the JSON the API takes. Throws `FieldError` for what makes no sense. */
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

/** A resource as the API shows it → what stands in its form. */
export function fillForm(specs: readonly FieldSpec[], resource: object | null): FormValues {
  const given = (resource ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    specs.map(({ name, kind, emptyList }) => {
      const value = given[name];
      if (kind === 'flag') return [name, value === true];
      if (value === null || value === undefined) return [name, ''];
      if (Array.isArray(value)) return [name, value.length === 0 ? (emptyList ?? '') : value.join(', ')];
      if (kind === 'usd' && typeof value === 'number') return [name, plainUsd(value)];
      if (kind === 'instant') return [name, String(value).slice(0, 16)];
      return [name, String(value)];
    }),
  );
}

/** Without the exponent that small numbers get. */
const plainUsd = (usd: number) => usd.toFixed(9).replace(/\.?0+$/, '');
