import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { McpTool } from '../../api/tools';
import { Badge } from '../../ui/badge';
import { CodeBlock } from '../../ui/copy-button';
import { Failure } from '../../ui/error-state';
import { ChangeButton } from '../forms/change-button';
import {
  besideEachOther,
  type DiffLine,
  diffLines,
  MARK_TONES,
  markOf,
  type ServerLine,
  TOOL_TONES,
} from './prepare-tools';
import { TryTool } from './try-tool';

interface Props {
  readonly server: ServerLine;
  readonly tool: McpTool;
}

/** One tool: description, pending change, and a form to try it. */
export function ToolItem({ server, tool }: Props) {
  const mark = markOf(tool);
  const waits = tool.state === 'changed' || tool.state === 'new';
  const [isOpen, setIsOpen] = useState(waits);
  return (
    <details className="rounded-md border" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-2 px-3 py-2">
        <span className="font-mono text-xs wrap-anywhere">{tool.name}</span>
        <Badge tone={TOOL_TONES[tool.state]}>{tool.state}</Badge>
        <Badge tone={MARK_TONES[mark]}>{mark}</Badge>
        {!tool.is_offered && <Badge>blocked</Badge>}
      </summary>
      {isOpen && (
        <div className="grid min-w-0 gap-3 border-t px-3 py-3 *:min-w-0">
          {tool.description !== null && <p className="whitespace-pre-line wrap-anywhere">{tool.description}</p>}
          {(waits || tool.state === 'declined') && <Approval server={server} tool={tool} />}
          {!waits && <CodeBlock label="Arguments (JSON schema)" code={JSON.stringify(tool.input_schema, null, 2)} />}
          {tool.state === 'approved' && tool.is_offered && <TryTool scope={server.alias} tool={tool} />}
        </div>
      )}
    </details>
  );
}

const DIFF = 'max-h-96 overflow-y-auto rounded-md border bg-bg pb-2 font-mono text-xs leading-relaxed';
const CELL = 'min-w-0 px-2 whitespace-pre-wrap wrap-anywhere';
const LINE = { same: '', approved: 'bg-bad-soft text-bad', seen: 'bg-good-soft text-good' } as const;
const MARK = { same: ' ', approved: '-', seen: '+' } as const;

const EXPLAINED: Partial<Record<McpTool['state'], string>> = {
  new: 'Nobody can call this tool until you approve it.',
  changed: 'The server changed what this tool says of itself. Nobody can call it until you approve the difference.',
  declined: 'You left this tool out: nobody can call it. It waits again when its server changes it.',
};

/** Approved and current version, side by side. */
function Approval({ server, tool }: Props) {
  const one = api.mcp.servers[':id'].tools[':name'];
  const version = {
    param: { id: server.id, name: encodeURIComponent(tool.name) },
    json: { hash: tool.hash },
  };
  const affects = [['mcp']];
  const approve = useChange({ run: () => read(one.approve.$post(version)), affects, done: `Approved ${tool.name}` });
  const decline = useChange({ run: () => read(one.decline.$post(version)), affects, done: `Declined ${tool.name}` });
  const isDeclined = tool.state === 'declined';
  return (
    <section className="grid gap-2 *:min-w-0">
      <p className={isDeclined ? 'text-muted' : 'text-warn'}>{EXPLAINED[tool.state]}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-label="Difference" className={DIFF}>
        <div className="sticky top-0 grid grid-cols-2 border-b bg-bg font-sans text-muted">
          <span className="px-2 py-1">Approved</span>
          <span className="border-l px-2 py-1">Now</span>
        </div>
        {besideEachOther(diffLines(tool.approved, tool.seen)).map(({ approved, seen }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names, and never move
          <div key={index} className="grid grid-cols-2">
            <Side line={approved} />
            <Side line={seen} isRight />
          </div>
        ))}
      </section>
      <Failure of={approve.error === null ? decline : approve} />
      <div className="flex justify-end gap-2">
        {!isDeclined && (
          <ChangeButton disabled={decline.isPending} onClick={() => decline.mutate(undefined)}>
            Decline
          </ChangeButton>
        )}
        <ChangeButton kind="primary" disabled={approve.isPending} onClick={() => approve.mutate(undefined)}>
          Approve
        </ChangeButton>
      </div>
    </section>
  );
}

function Side({ line, isRight = false }: { readonly line: DiffLine | null; readonly isRight?: boolean }) {
  const tone = line === null ? '' : LINE[line.kind];
  return (
    <div className={`${CELL} ${tone} ${isRight ? 'border-l' : ''}`}>
      {line !== null && `${MARK[line.kind]} ${line.text}`}
    </div>
  );
}
