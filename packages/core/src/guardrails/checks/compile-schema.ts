import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020';
import { RE2JS } from 're2js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Checks a text against a schema: a reason, or undefined if valid. A reason never quotes the text. */
export type JudgeJson = (text: string) => string | undefined;

const MAX_SCHEMA_LENGTH = 64 * 1024;
const OLD_DRAFT = /draft-0[4-7]/;
/** Expressions in linear time. `code` is only for validators that are written to a file. */
const linear = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // Ajv compares expressions by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: 'linear' },
);
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  inlineRefs: false,
  logger: false,
  code: { regExp: linear },
};

/** Throws for an invalid or too long schema, an external reference, or an expression that RE2 rejects. */
export function compileSchema(schema: JsonSchema): JudgeJson {
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH)
    throw new Error(`the schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const validate = compile(schema);
  return (text) => {
    const value = parse(text);
    if (value === undefined) return 'The answer must be JSON and nothing else.';
    return validate(value.json) ? undefined : explain(validate.errors?.[0]);
  };
}

function compile(schema: JsonSchema): ValidateFunction {
  const { $schema: draft, ...rest } = schema;
  const isOld = typeof draft === 'string' && OLD_DRAFT.test(draft);
  const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  // Its own compares every pair.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: areDistinct });
  try {
    return ajv.compile(rest);
  } catch (cause) {
    throw new Error(`not a schema that can be used: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function areDistinct(isAsked: boolean, items: readonly unknown[]): boolean {
  return !isAsked || new Set(items.map(canonical)).size === items.length;
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

function parse(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Path and rule of the violation, in the schema's terms. */
function explain(error: ErrorObject | undefined): string {
  if (error === undefined) return 'The answer does not fit its schema.';
  const asked =
    error.keyword === 'required'
      ? `must have the property "${error.params.missingProperty}"`
      : (error.message ?? 'does not fit');
  return `The answer does not fit its schema: ${asked} (${error.schemaPath}).`.slice(0, 300);
}
