import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type McpCheck, type McpServerChanges, useMcpTools } from '../../api/tools';
import { countOf, formatMs } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { ConfirmButton } from '../forms/confirm-button';
import { SpecForm } from '../forms/spec-form';
import { useSave } from '../forms/use-save';
import { GrantsSection } from './grants-section';
import { type ServerLine, sortTools } from './prepare-tools';
import { KEPT_AUTH, serverBody, serverFields } from './server-fields';
import { ToolItem } from './tool-item';

const AFFECTS = [['mcp']];

/** One server: how it fares, its tools, its settings. */
export function ServerDialog({ of: server, onClose }: DialogOf<ServerLine>) {
  const param = { id: server.id };
  const tools = useMcpTools(server.id);
  const forget = useChange({
    run: () => api.mcp.servers[':id'].$delete({ param }),
    affects: AFFECTS,
    done: 'Server deleted',
  });
  const { health } = server;
  return (
    <Dialog
      kind="drawer"
      title={server.alias}
      description={server.url ?? server.command ?? undefined}
      onClose={onClose}
    >
      <div className="grid gap-5">
        <div className="flex flex-wrap items-center gap-2">
          <Badge tone={server.tone}>{server.label}</Badge>
          <Badge>{server.transport}</Badge>
          <Badge>auth: {server.auth.type}</Badge>
          <CheckButton id={server.id} />
        </div>
        <Troubles health={health} />
        <section className="grid gap-2">
          <h3 className="text-xs font-semibold text-muted">Tools</h3>
          <Failure of={tools} />
          {tools.data?.data.length === 0 && <p className="text-muted">None were listed yet.</p>}
          {sortTools(tools.data?.data ?? []).map((tool) => (
            <ToolItem key={tool.name} server={server} tool={tool} />
          ))}
        </section>
        {server.auth.type === 'oauth_user' && <GrantsSection server={server} />}
        <section>
          <h3 className="mb-2 text-xs font-semibold text-muted">Settings</h3>
          <Settings server={server} />
        </section>
        <div className="flex justify-end">
          <ConfirmButton
            title={`Delete ${server.alias}?`}
            impact={`Its tools can no longer be called, and what was approved is forgotten. ${countOf(server.calls, 'call')} in the chosen range. Its calls stay in the log.`}
            confirmLabel="Delete server"
            change={forget}
            onConfirm={() => forget.mutate(undefined, { onSuccess: onClose })}
          >
            Delete server
          </ConfirmButton>
        </div>
      </div>
    </Dialog>
  );
}

function Troubles({ health }: Pick<ServerLine, 'health'>) {
  return (
    <>
      {health.error !== null && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">Left out of all lists: {health.error}</p>
      )}
      {health.odd_count > 0 && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {countOf(health.odd_count, 'tool')} with names or schemas that no client can use
        </p>
      )}
    </>
  );
}

function Settings({ server }: { readonly server: ServerLine }) {
  const param = { id: server.id };
  const save = useSave({
    asFields: (shown) => ({ ...shown, auth_type: KEPT_AUTH }),
    read: () => api.mcp.servers[':id'].$get({ param }),
    write: (changes, options) =>
      api.mcp.servers[':id'].$patch({ param, json: serverBody(changes) as McpServerChanges }, options),
    affects: AFFECTS,
    done: 'Saved. Changes apply from the next call.',
  });
  return (
    <SpecForm
      key={server.updated_at}
      specs={(values) => serverFields(server, values)}
      resource={{ ...server, auth_type: KEPT_AUTH }}
      submitLabel="Save settings"
      change={save}
      onSubmit={(_, edit) => save.mutate(edit)}
    />
  );
}

/** Asks the server for its tools now. */
function CheckButton({ id }: { readonly id: string }) {
  const [result, setResult] = useState<McpCheck | null>(null);
  const check = useChange({
    run: () => read(api.mcp.servers[':id'].refresh.$post({ param: { id } })),
    affects: AFFECTS,
  });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Button size="small" disabled={check.isPending} onClick={() => check.mutate(undefined, { onSuccess: setResult })}>
        {check.isPending ? 'Asking…' : 'Refresh tools'}
      </Button>
      {result !== null && (
        <span className={`wrap-anywhere ${result.ok ? 'text-good' : 'text-bad'}`}>
          {result.ok ? `Answered in ${formatMs(result.latency_ms)}` : result.error}
        </span>
      )}
      {check.error && <span className="text-bad">{check.error.message}</span>}
    </span>
  );
}
