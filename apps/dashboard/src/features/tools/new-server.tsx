import { useEffect, useRef, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { McpPreview, McpServerInput } from '../../api/tools';
import { countOf } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Form } from '../../ui/form';
import { SpecForm } from '../forms/spec-form';
import { MARK_TONES, markOf, pickAtFirst } from './prepare-tools';
import { newServerFields, serverBody } from './server-fields';

interface Props {
  readonly onClose: () => void;
  readonly onAdded: (id: string) => void;
}

interface Asked {
  readonly body: McpServerInput;
  readonly preview: McpPreview;
}

/** First its address, then its tools: nothing is approved unseen. */
export function NewServer({ onClose, onAdded }: Props) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const check = useChange({
    run: async (json: McpServerInput) => ({
      body: json,
      preview: await read(api.mcp.servers.check.$post({ json })),
    }),
    affects: [],
  });
  return (
    <Dialog
      title={asked === null ? 'Add an MCP server' : `Tools of ${asked.body.alias}`}
      description={
        asked === null
          ? 'Next you see its tools, and pick those that keys may call.'
          : 'Only the picked tools can be called. Destructive ones are off until you pick them.'
      }
      onClose={onClose}
    >
      {/* Going back finds the form as it was. */}
      <div hidden={asked !== null}>
        <SpecForm
          specs={newServerFields}
          resource={{ transport: 'http', auth_type: 'none', approve_changes: 'manual' }}
          submitLabel={check.isPending ? 'Asking…' : 'Show its tools'}
          change={check}
          onSubmit={(body) => check.mutate(serverBody(body) as unknown as McpServerInput, { onSuccess: setAsked })}
        />
      </div>
      {asked !== null && <PickTools asked={asked} onBack={() => setAsked(null)} onAdded={onAdded} />}
    </Dialog>
  );
}

interface PickProps {
  readonly asked: Asked;
  readonly onBack: () => void;
  readonly onAdded: (id: string) => void;
}

function PickTools({ asked: { body, preview }, onBack, onAdded }: PickProps) {
  const { tools } = preview;
  const [picked, setPicked] = useState<ReadonlySet<string>>(() => new Set(pickAtFirst(tools)));
  const choices = useRef<HTMLUListElement>(null);
  // The form that had the focus is hidden now.
  useEffect(() => choices.current?.closest('form')?.querySelector<HTMLElement>('input, button')?.focus(), []);
  const create = useChange({
    run: (json: McpServerInput) => read(api.mcp.servers.$post({ json })),
    affects: [['mcp']],
    done: ({ health }) =>
      health.state === 'ok'
        ? `Added, with ${countOf(health.tool_count ?? 0, 'tool')}`
        : `Added, but it does not answer: ${health.error}`,
  });
  const approve_tools = tools.filter(({ name }) => picked.has(name)).map(({ name, hash }) => ({ name, hash }));
  const decline_tools = tools.filter(({ name }) => !picked.has(name)).map(({ name, hash }) => ({ name, hash }));
  const add = () => create.mutate({ ...body, approve_tools, decline_tools }, { onSuccess: ({ id }) => onAdded(id) });
  return (
    <Form onSubmit={add}>
      {preview.error !== null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
          It lists no tools: {preview.error} If you add it all the same, all its tools wait for your approval.
        </p>
      )}
      {preview.ok && tools.length === 0 && <p className="text-muted">It lists no tools. Later ones wait.</p>}
      {tools.length > 0 && <PickButtons tools={tools} picked={picked} onPick={setPicked} />}
      <ul ref={choices} className="grid gap-1">
        {tools.map((tool) => (
          <ToolChoice
            key={tool.name}
            tool={tool}
            isPicked={picked.has(tool.name)}
            onPick={() => setPicked(picked.symmetricDifference(new Set([tool.name])))}
          />
        ))}
      </ul>
      <Failure of={{ error: create.error }} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <Button onClick={onBack}>Back</Button>
        <Button type="submit" kind="primary" disabled={create.isPending}>
          {preview.ok ? `Add with ${countOf(approve_tools.length, 'tool')}` : 'Add all the same'}
        </Button>
      </div>
    </Form>
  );
}

interface ChoiceProps {
  readonly tool: McpPreview['tools'][number];
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

function ToolChoice({ tool, isPicked, onPick }: ChoiceProps) {
  const mark = markOf(tool);
  return (
    <li>
      <label className="flex items-start gap-2.5 rounded-md border px-3 py-2 hover:bg-hover has-checked:border-accent">
        <input
          type="checkbox"
          className="mt-0.5 size-4 shrink-0 accent-(--c-accent)"
          checked={isPicked}
          onChange={onPick}
        />
        <span className="grid min-w-0 gap-0.5">
          <span className="flex flex-wrap items-center gap-2">
            <span className="font-mono text-xs wrap-anywhere">{tool.name}</span>
            <Badge tone={MARK_TONES[mark]}>{mark}</Badge>
          </span>
          <span className="text-xs whitespace-pre-line text-muted wrap-anywhere">
            {tool.description ?? 'It has no description.'}
          </span>
        </span>
      </label>
    </li>
  );
}

interface ButtonsProps {
  readonly tools: McpPreview['tools'];
  readonly picked: ReadonlySet<string>;
  readonly onPick: (names: ReadonlySet<string>) => void;
}

const PickButtons = ({ tools, picked, onPick }: ButtonsProps) => (
  <div className="flex flex-wrap items-center gap-1.5">
    <span className="mr-auto text-xs text-muted">{`${picked.size} of ${countOf(tools.length, 'tool')} picked`}</span>
    <Button size="small" onClick={() => onPick(new Set(pickAtFirst(tools)))}>
      Read-only
    </Button>
    <Button size="small" onClick={() => onPick(new Set(tools.map(({ name }) => name)))}>
      All
    </Button>
    <Button size="small" onClick={() => onPick(new Set())}>
      None
    </Button>
  </div>
);
