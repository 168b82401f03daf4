import type { ReactNode } from 'react';
import { Card } from '../../ui/card';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/form';
import type { Settings } from './draft';
import { toolNames } from './prepare-body';
import type { Playground } from './use-playground';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
const FORMATS = { text: 'Text', json_object: 'JSON', json_schema: 'JSON schema' } as const;
const CACHES = { off: 'Bypass the cache', refresh: 'Refresh the cached answer' } as const;
const CODE = { className: 'font-mono text-xs', spellCheck: false } as const;

const NUMBERS = [
  ['temperature', 'Temperature', '0 to 2'],
  ['top_p', 'Top p', '0 to 1'],
  ['max_tokens', 'Max tokens', 'model default'],
  ['seed', 'Seed', 'any'],
  ['frequency_penalty', 'Frequency penalty', '−2 to 2'],
  ['presence_penalty', 'Presence penalty', '−2 to 2'],
] as const;

const TOOL_EXAMPLE = `[{
  "name": "get_weather",
  "description": "…",
  "parameters": {
    "type": "object",
    "properties": {"city": {"type": "string"}}
  }
}]`;

const SCHEMA_EXAMPLE = `{
  "type": "object",
  "properties": {"age": {"type": "integer"}},
  "required": ["age"]
}`;

type Typed = Exclude<keyof Settings, 'stream' | 'format' | 'cache'>;

/** Wiring of a settings field. */
function wiring({ draft, set, prepared }: Playground) {
  const problemOf = (field: keyof Settings) => prepared.problems.find((one) => one.field === field)?.message;
  const wire = (field: Typed) => ({
    value: draft.settings[field],
    error: problemOf(field),
    onValue: (value: string) => set({ [field]: value }),
  });
  return { wire, problemOf };
}

/** Settings of the answer; empty fields aren't sent. Models of images and speech have none but the common ones. */
export function SettingsCard({ playground }: { readonly playground: Playground }) {
  const { draft, example, mediaOf } = playground;
  const isMedia = draft.models.every((model) => mediaOf(model.trim() || example) !== undefined);
  return (
    <Card title="Settings">
      <div className="grid gap-3">
        {!isMedia && <ChatSettings playground={playground} />}
        <More playground={playground} />
      </div>
    </Card>
  );
}

function ChatSettings({ playground }: { readonly playground: Playground }) {
  const { draft, set } = playground;
  const { wire } = wiring(playground);
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        {NUMBERS.map(([field, label, range]) => (
          <TextField key={field} label={label} inputMode="decimal" placeholder={range} {...wire(field)} />
        ))}
      </div>
      <TextArea label="Stop" rows={1} hint="One per line" {...wire('stop')} />
      <SelectField label="Reasoning effort" anyLabel="model default" options={EFFORTS} {...wire('reasoning_effort')} />
      <SelectField
        label="Response format"
        options={FORMATS}
        value={draft.settings.format}
        onValue={(format) => set({ format: format as Settings['format'] })}
      />
      {draft.settings.format === 'json_schema' && (
        <TextArea label="JSON schema" rows={8} placeholder={SCHEMA_EXAMPLE} {...CODE} {...wire('schema')} />
      )}
      <Tools playground={playground} />
      <CheckField label="Stream" checked={draft.settings.stream} onValue={(stream) => set({ stream })} />
    </>
  );
}

function Tools({ playground }: { readonly playground: Playground }) {
  const { wire, problemOf } = wiring(playground);
  const names = toolNames(playground.draft.settings.tools);
  return (
    <Group title="Tools" count={names.length} isOpen={problemOf('tools') !== undefined}>
      <TextArea label="Definitions (JSON)" rows={8} placeholder={TOOL_EXAMPLE} {...CODE} {...wire('tools')} />
      {names.length > 0 && (
        <SelectField
          label="Tool choice"
          anyLabel="model default"
          options={['auto', 'none', 'required', ...names]}
          {...wire('tool_choice')}
        />
      )}
    </Group>
  );
}

function More({ playground }: { readonly playground: Playground }) {
  const { draft, set } = playground;
  const { wire, problemOf } = wiring(playground);
  return (
    <Group title="More" count={0} isOpen={problemOf('other') !== undefined}>
      <TextField label="Customer" placeholder="none" {...wire('customer')} />
      <SelectField
        label="Cache"
        anyLabel="project default"
        options={CACHES}
        value={draft.settings.cache}
        onValue={(cache) => set({ cache: cache as Settings['cache'] })}
      />
      <TextArea label="Other fields (JSON)" rows={3} placeholder={'{"top_k": 40}'} {...CODE} {...wire('other')} />
    </Group>
  );
}

interface GroupProps {
  readonly title: string;
  readonly count: number;
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

/** Stays open while something in it is wrong. */
function Group({ title, count, isOpen, children }: GroupProps) {
  return (
    <details className="rounded-md border px-3 py-1" open={isOpen || count > 0 || undefined}>
      <summary className="cursor-pointer text-xs font-medium text-muted">
        {title}
        {count > 0 && ` (${count})`}
      </summary>
      <div className="mt-2 grid gap-3">{children}</div>
    </details>
  );
}
