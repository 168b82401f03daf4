import { useChange } from '../../api/change';
import { ApiError, api, read } from '../../api/client';
import type { Provider, ProviderInput } from '../../api/routing';
import { saveChanges } from '../../api/save-changes';
import { EGRESS_HINT } from '../forms/egress-hint';
import type { FieldSpec } from '../forms/prepare-form';
import { readLines, readPairs } from '../forms/read-lines';
import { type Edit, SpecForm } from '../forms/spec-form';
import { TestButton } from './test-button';

const FIELDS: readonly FieldSpec[] = [
  {
    ...{ name: 'base_url', label: 'Base URL', kind: 'text', isWide: true, placeholder: 'https://…' },
    hint: `Ends in /v1 for OpenAI-compatible servers. ${EGRESS_HINT} Stored keys stay.`,
  },
  {
    ...{ name: 'options', label: 'Options', kind: 'text', rows: 2 },
    ...{ hint: 'One name=value per line, such as apiVersion=2024-10-21', read: readPairs },
    show: (value) =>
      Object.entries(value as Record<string, string>)
        .map(([name, one]) => `${name}=${one}`)
        .join('\n'),
  },
  {
    ...{ name: 'passthrough_paths', label: 'Pass-through paths', kind: 'text', rows: 2, read: readLines },
    ...{
      hint: 'In addition to inference, one per line, such as POST /v1/files',
      show: (value) => (value as string[]).join('\n'),
    },
  },
  {
    name: 'request_timeout_ms',
    label: 'Time-out to the first event, ms',
    kind: 'integer',
    placeholder: "the gateway's",
  },
  { name: 'answer_timeout_ms', label: 'Time-out of whole answers, ms', kind: 'integer', placeholder: "the gateway's" },
  { name: 'max_concurrency', label: 'Requests at once', kind: 'integer', placeholder: 'no limit' },
  {
    ...{ name: 'health_check_interval_ms', label: 'Health check every, ms', kind: 'integer', placeholder: 'none' },
    hint: 'A free question. While it fails, other targets come first.',
  },
  { name: 'drain', label: 'Drain: requests under way finish, new ones skip this provider', kind: 'flag' },
  { name: 'is_active', label: 'Send requests to this provider', kind: 'flag' },
];

/** Edits a provider's connection in place. */
export function ProviderForm({ provider }: { readonly provider: Provider }) {
  const param = { name: provider.name };
  const save = useChange({
    run: (edit: Edit) => (provider.is_stored ? change(param, edit) : set(param, edit)),
    affects: [['providers'], ['system']],
    done: 'Saved. Changes apply from the next request.',
  });
  return (
    <SpecForm
      key={provider.updated_at}
      specs={FIELDS}
      resource={provider}
      submitLabel="Save settings"
      change={save}
      onSubmit={(_, edit) => save.mutate(edit)}
    >
      {provider.is_configured && <TestButton name={provider.name} />}
    </SpecForm>
  );
}

const change = ({ name }: { name: string }, edit: Edit) =>
  saveChanges({
    ...edit,
    read: () => api.providers[':name'].$get({ param: { name } }),
    write: (options) =>
      api.providers[':name'].$patch({ param: { name }, json: edit.changes as Partial<ProviderInput> }, options),
  });

/** A provider from the environment has no stored row yet. */
function set({ name }: { name: string }, { changes }: Edit) {
  if (Object.keys(changes).length === 0) throw new ApiError('There are no changes to save.', 400, 'invalid_request');
  return read(api.providers.$post({ json: { name, ...(changes as Partial<ProviderInput>) } }));
}
