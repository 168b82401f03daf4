import type { JsonObject } from '@llm0/core/chat/json';
import { type Command, type CommandInput, PAGE, UsageError } from './command';
import { column } from './format-table';
import { resolveProject } from './resolve-name';

const on = { kind: 'text', help: 'input or output (input)' } as const;

export const GUARDRAIL_COMMANDS: readonly Command[] = [
  {
    name: 'guardrails get',
    summary: "Show a project's guardrails",
    args: ['project'],
    run: async (input) => input.api.get(await guardrailsPath(input)),
    shown: (body) => body,
  },
  {
    name: 'guardrails set',
    summary: "Change a project's guardrails from the next request; omitted options keep their values",
    args: ['project'],
    options: {
      mode: { kind: 'text', help: 'off, shadow (log only) or enforce' },
      rules: { kind: 'json', help: `'[{"name":"no-cards","on":"both","check":{"type":"pii"},"action":"redact"}]'` },
      'pseudonym-scope': { kind: 'text', help: 'request or project' },
      version: { kind: 'number', help: 'version to change; refused if another one is current' },
    },
    run: async (input) => {
      const path = await guardrailsPath(input);
      const { body } = await input.api.get(path);
      const { mode, rules, pseudonym_scope, version } = body as JsonObject;
      return input.api.put(path, { mode, rules, pseudonym_scope, version, ...input.fields } as JsonObject);
    },
    shown: (body) => body,
  },
  {
    name: 'guardrails versions',
    summary: "List the versions of a project's guardrails, newest first",
    args: ['project'],
    options: PAGE,
    run: async (input) => input.api.get(`${await guardrailsPath(input)}/versions`, input.fields),
    columns: [
      column('version'),
      column('mode'),
      column('pseudonym_scope', { title: 'pseudonyms' }),
      column('created_by', { title: 'by' }),
      column('created_at', { title: 'created' }),
    ],
  },
  {
    name: 'guardrails rollback',
    summary: 'Restore an earlier version as a new one',
    args: ['project', 'version'],
    run: async (input) => {
      const version = Number(input.args.version);
      if (!Number.isSafeInteger(version)) throw new UsageError('<version> must be a number');
      return input.api.post(`${await guardrailsPath(input)}/rollback`, { version });
    },
    shown: (body) => body,
  },
  {
    name: 'guardrails try',
    summary: 'Show the effect of each rule on a text; nothing is sent, stored or logged',
    args: ['project', 'text'],
    options: { on },
    run: async (input) => {
      const text = input.args.text ?? '';
      return input.api.post(`${await guardrailsPath(input)}/try`, { on: 'input', ...input.fields, text });
    },
    shown: (body) => body,
  },
];

const guardrailsPath = async ({ api, args }: CommandInput) =>
  `/projects/${await resolveProject(api, args.project ?? '')}/guardrails`;
