import type { Rule } from '../../api/guardrails';
import { EGRESS_HINT } from '../forms/egress-hint';
import type { FieldSpec, FormValues } from '../forms/prepare-form';
import { readLines } from '../forms/read-lines';
import { DecodeField, KindsField, PartsField } from './boxes-field';
import { ACTIONS, CHECKS, SIDES } from './prepare-guardrails';
import { partsToSave } from './rule-parts';

const lines = (value: unknown) => (value as readonly string[]).join('\n');

const NAME: FieldSpec = {
  ...{ name: 'name', label: 'Name', kind: 'text', required: true, placeholder: 'no card numbers' },
  hint: 'In errors, logs and X-LLM0-Guardrail',
};
const HEAD: readonly FieldSpec[] = [
  NAME,
  { name: 'on', label: 'Checks', kind: 'text', options: SIDES },
  {
    ...{ name: 'parts', label: 'Parts', kind: 'list', widget: PartsField, isWide: true },
    hint: 'Unknown fields are always checked.',
  },
  { name: 'type', label: 'Looks for', kind: 'text', options: CHECKS },
];

const hosts = (name: string, label: string, hint: string): FieldSpec => ({
  ...{ name, label, hint, kind: 'text', rows: 3, read: readLines, show: lines },
});

const DECODE: FieldSpec = {
  ...{ name: 'decode', label: 'Also read', kind: 'list', widget: DecodeField },
};

/** The fields of each check, named as the API names them. */
const CHECK_FIELDS: Readonly<Record<Rule['check']['type'], readonly FieldSpec[]>> = {
  pii: [
    { name: 'kinds', label: 'Kinds', kind: 'list', widget: KindsField, isWide: true },
    {
      name: 'countries',
      label: 'Phone numbers of',
      kind: 'list',
      placeholder: 'DE, FR',
      hint: 'Countries whose numbers are found without their country code, too',
    },
    DECODE,
  ],
  secrets: [DECODE],
  regex: [
    {
      ...{ name: 'pattern', label: 'Expression', kind: 'text', required: true, isWide: true },
      ...{ placeholder: '(?i)\\bproject-[a-z]{1,12}', hint: "RE2's syntax: linear time, no look-around" },
    },
  ],
  words: [
    {
      ...{ name: 'words', label: 'Words', kind: 'text', rows: 5, required: true, isWide: true },
      ...{
        read: readLines,
        show: lines,
        hint: 'One word or phrase per line; case, accents and look-alikes do not matter',
      },
    },
  ],
  length: [{ name: 'max', label: 'Characters at most', kind: 'integer', required: true }],
  json_schema: [
    {
      ...{ name: 'schema', label: 'Schema', kind: 'text', rows: 8, required: true, isWide: true, read: readSchema },
      ...{
        show: (value: unknown) => JSON.stringify(value, null, 2),
        hint: 'JSON Schema 2020-12; the whole answer must be JSON',
      },
    },
  ],
  url: [
    hosts(
      'allow',
      'Only these hosts',
      'One per line; *.example.com is all below example.com. Leave empty for any host.',
    ),
    hosts('deny', 'Never these hosts', 'One per line; * alone is every host: no link at all'),
  ],
  injection: [],
  similar_to: [
    {
      ...{ name: 'examples', label: 'Examples', kind: 'text', rows: 5, required: true, isWide: true },
      ...{ read: readLines, show: lines, hint: "One sentence per line, in a user's words" },
    },
    { name: 'threshold', label: 'Similar from', kind: 'number', required: true, placeholder: '0.6', hint: '0 to 1' },
  ],
  moderation: [
    {
      ...{ name: 'model', label: 'Model', kind: 'text', required: true, placeholder: 'openai/omni-moderation-latest' },
      hint: "A vendor's moderation model, or any chat model. Its cost is booked to the project.",
    },
  ],
  webhook: [
    {
      ...{ name: 'url', label: 'URL', kind: 'text', required: true, isWide: true },
      ...{ placeholder: 'https://…/check', hint: EGRESS_HINT },
    },
    { name: 'timeout_ms', label: 'Time-out, ms', kind: 'integer', placeholder: '2000' },
  ],
};

const ON_ERROR: FieldSpec = {
  ...{ name: 'on_error', label: 'If it cannot be checked', kind: 'text' },
  options: { block: 'block', allow: 'let it pass' },
};
const RETRIES: FieldSpec = {
  ...{ name: 'max_retries', label: 'Asks again at most', kind: 'integer', placeholder: '1' },
};

/** Fields of a rule, by check and action. */
export function ruleFields(values: FormValues): readonly FieldSpec[] {
  const type = (String(values.type ?? '') || 'pii') as Rule['check']['type'];
  const retries = values.action === 'retry' ? [RETRIES] : [];
  return [
    ...HEAD,
    ...(CHECK_FIELDS[type] ?? []),
    { name: 'action', label: 'Then', kind: 'text', options: ACTIONS },
    ...retries,
    ON_ERROR,
  ];
}

export const NEW_RULE = { on: 'both', type: 'pii', action: 'block', on_error: 'block' } as const;

/** Form values of a rule: flattens the check's own fields. */
export const ruleValues = ({ check, ...rule }: Rule): Record<string, unknown> => ({ ...rule, ...check });

/** Typed values as an API body, without empty ones. */
export function ruleBody(body: Readonly<Record<string, unknown>>): Rule {
  const { name, on, parts, action, max_retries: retries, on_error: onError, type, ...fields } = body;
  const chosen = partsToSave(parts as readonly string[] | null | undefined, on);
  const check = Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
  return {
    ...{ name, on, action, on_error: onError ?? 'block' },
    ...(chosen === undefined ? {} : { parts: chosen }),
    ...(isGiven(retries) ? { max_retries: retries } : {}),
    check: { type, ...check },
  } as unknown as Rule;
}

const isGiven = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

function readSchema(text: string): unknown {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    throw new Error('must be JSON');
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error('must be an object');
  return schema;
}
