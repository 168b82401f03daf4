import { rename, writeFile } from 'node:fs/promises';
import type { JsonObject } from '@llm0/core/chat/json';
import { type AdminClient, type ClientAnswer, RequestFailed } from '../admin-client';
import { type Command, type CommandInput, type CommandOption, type Output, UsageError } from '../command';
import { column, formatCell } from '../format-table';
import { dataOf, isObject } from '../read-list';
import type { Applied } from './apply-plan';
import type { Plan, Step } from './make-plan';

const DEFAULT_NAME = 'default';
const file: CommandOption = { kind: 'text', short: 'f', help: 'YAML or JSON file, or a folder of them' };
const options: Readonly<Record<string, CommandOption>> = {
  file,
  name: { kind: 'text', help: `name of the apply, which owns the resources that it creates (${DEFAULT_NAME})` },
  prune: { kind: 'switch', help: 'delete what an earlier apply of this name created and the file leaves out' },
};
const columns = [column('action'), column('kind'), column('name'), { title: 'changes', value: describeChanges }];

/** A gateway's resources as a file. */
export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'plan',
    summary: 'Show the changes that apply would make; exit code 0 without changes, 2 with some, 1 for an invalid file',
    options,
    run: (input) => planOrApply(input, false),
    shown: (body) => dataOf(body, 'changes'),
    columns,
    note: noteOf,
    isPending: (body) => dataOf(body, 'changes').length > 0,
  },
  {
    name: 'apply',
    summary: 'Make the changes of a configuration file; safe to repeat',
    options,
    run: (input) => planOrApply(input, true),
    shown: (body) => dataOf(body, 'changes'),
    columns: [column('outcome'), ...columns],
    note: noteOf,
    hasFailed: (body) => body.error !== null,
  },
  {
    name: 'export',
    summary: 'Write the present configuration as a file, without secrets',
    options: {
      file: { ...file, help: 'file to write; - writes to the output (-)' },
      schema: { kind: 'switch', help: 'write the JSON Schema of such files instead, for editors' },
    },
    run: exportFile,
  },
];

async function planOrApply(
  { api, fields, env, output, signal }: CommandInput,
  isApplied: boolean,
): Promise<ClientAnswer> {
  if (typeof fields.file !== 'string') throw new UsageError('-f <file> is missing');
  const file = { path: fields.file, applyName: nameOf(fields), isPruning: fields.prune === true, env };
  // Loaded on demand, because the schemas are large.
  const { applyFile, planFile } = await import('./apply-file');
  if (!isApplied) return answerOf(fields, await planFile(api, file));
  const { plan, applied } = await applyFile(api, { ...file, signal, note: output.note });
  return answerOf(fields, plan, applied);
}

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : DEFAULT_NAME);

function answerOf(fields: JsonObject, { steps, unchanged, notes }: Plan, applied?: Applied): ClientAnswer {
  const isMade = (step: Step) => applied === undefined || applied.done.has(step);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action && isMade(step)).length;
  const body: JsonObject = {
    name: nameOf(fields),
    summary: { create: count('create'), change: count('change'), delete: count('delete'), unchanged },
    changes: steps.map((step) => ({
      ...(applied === undefined ? {} : { outcome: isMade(step) ? 'done' : 'not done' }),
      ...{ action: step.action, kind: step.kind, name: step.name, fields: [...step.changes] },
    })),
    notes: [...notes],
    ...(applied === undefined ? {} : { error: applied.failure ?? null }),
  };
  return { text: JSON.stringify(body), body };
}

/** For a new resource its values, for a present one old and new ones. */
function describeChanges({ action, fields = [] }: JsonObject): string {
  return dataOf({ fields }, 'fields')
    .filter(isObject)
    .map(({ field, old = null, new: value = null }) => {
      const shown = formatCell(value);
      return action === 'create' ? `${field}: ${shown}` : `${field}: ${formatCell(old)} → ${shown}`;
    })
    .join('; ');
}

function noteOf({ summary, notes = [], error }: JsonObject): string {
  const { create, change, delete: gone, unchanged } = isObject(summary) ? summary : {};
  const counts =
    error === undefined
      ? `${create} to create, ${change} to change, ${gone} to delete, ${unchanged} unchanged`
      : `${create} created, ${change} changed, ${gone} deleted, ${unchanged} unchanged`;
  const failure = typeof error === 'string' ? [error, 'The rest is not done: run it again.'] : [];
  return [counts, ...dataOf({ notes }, 'notes').map(String), ...failure].join('\n');
}

async function exportFile({ api, fields, output }: CommandInput): Promise<undefined> {
  const text = fields.schema === true ? await schemaText() : await stateText(api, output);
  if (typeof fields.file !== 'string' || fields.file === '-') {
    output.raw(text.trimEnd());
    return undefined;
  }
  try {
    await writeFile(`${fields.file}.part`, text);
    await rename(`${fields.file}.part`, fields.file);
  } catch {
    throw new RequestFailed(`${fields.file} cannot be written.`);
  }
  output.note(`wrote ${fields.file}`);
  return undefined;
}

async function stateText(api: AdminClient, output: Output): Promise<string> {
  const [{ loadState }, { exportConfig }] = await Promise.all([import('./load-state'), import('./export-config')]);
  const { text, notes } = exportConfig(await loadState(api, { wanted: 'all' }));
  for (const note of notes) output.note(note);
  return text;
}

async function schemaText(): Promise<string> {
  const { configJsonSchema } = await import('./json-schema');
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
