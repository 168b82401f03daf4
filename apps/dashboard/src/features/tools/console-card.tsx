import { useRef, useState } from 'react';
import { useChange } from '../../api/change';
import { useMayChange } from '../../api/session';
import { callTool, type ToolSender, useToolCalls } from '../../api/tools';
import { formatMs } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Form, SearchInput, TextArea } from '../../ui/form';
import { KeyPicker } from './key-picker';
import { OutcomeView } from './outcome-view';

const EXAMPLE = `// Tools of the key, as functions: tools.<alias>.<tool>(arguments)
const servers = Object.keys(tools);
console.log('servers', servers);
servers.length`;

/** A script over the tools of a key, as an agent would run it. */
export function ConsoleCard() {
  const mayChange = useMayChange();
  const [sender, setSender] = useState<ToolSender>({ projectId: '', keyId: '' });
  const [code, setCode] = useState(EXAMPLE);
  const running = useRef<AbortController>(undefined);
  const run = useChange({
    run: () => {
      running.current = new AbortController();
      const { signal } = running.current;
      return callTool({ sender, scope: 'code', name: 'execute_code', args: { code }, signal });
    },
    affects: [['tool-calls'], ['stats', 'tools']],
  });
  if (!mayChange) return <Card>Your token is read-only: it cannot run scripts.</Card>;
  return (
    <div className="grid gap-4 xl:grid-cols-[3fr_2fr] *:min-w-0">
      <Card title="Script">
        <Form onSubmit={() => run.mutate(undefined)} className="grid gap-3 *:min-w-0">
          <KeyPicker sender={sender} onChange={setSender} />
          <TextArea
            label="JavaScript"
            rows={14}
            className="font-mono text-xs"
            spellCheck={false}
            value={code}
            onValue={setCode}
            hint="30 s, 16 MB, 50 calls, 64 kB of result. The key or its project needs Code Mode and MCP tools."
          />
          <div className="flex justify-end gap-2">
            {run.isPending && <Button onClick={() => running.current?.abort()}>Stop</Button>}
            <Button type="submit" kind="primary" disabled={run.isPending || sender.keyId === ''}>
              {run.isPending ? 'Running…' : 'Run'}
            </Button>
          </div>
          <Failure of={run} />
          {run.data !== undefined && <OutcomeView outcome={run.data} />}
          {run.data?.runId != null && <RunCalls runId={run.data.runId} />}
        </Form>
      </Card>
      <SearchCard sender={sender} />
    </div>
  );
}

/** Calls of a script, with their durations. */
function RunCalls({ runId }: { readonly runId: string }) {
  const calls = useToolCalls({ run_id: runId });
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Calls of this run</h3>
      <Failure of={calls} />
      <ol className="divide-y">
        {(calls.data?.rows ?? []).toReversed().map((call) => (
          <li key={call.id} className="flex justify-between gap-3 py-1">
            <span className="min-w-0 wrap-anywhere">
              {call.server}: {call.tool}
            </span>
            <span className="nums shrink-0">{formatMs(call.latency_ms)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Search result for an agent. */
function SearchCard({ sender }: { readonly sender: ToolSender }) {
  const [query, setQuery] = useState('');
  const search = useChange({
    run: () => callTool({ sender, scope: 'code', name: 'search_tools', args: { query } }),
    affects: [],
  });
  return (
    <Card title="Search tools">
      <Form onSubmit={() => search.mutate(undefined)} className="grid gap-3 *:min-w-0">
        <div className="flex gap-2">
          <SearchInput label="What you want to do" value={query} onValue={setQuery} />
          <Button type="submit" disabled={search.isPending || sender.keyId === '' || query.trim() === ''}>
            Search
          </Button>
        </div>
        <Failure of={search} />
        {search.data !== undefined && <OutcomeView outcome={search.data} />}
      </Form>
    </Card>
  );
}
