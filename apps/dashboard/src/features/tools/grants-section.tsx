import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useKeyNames } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { type McpGrant, type ToolSender, useMcpGrants } from '../../api/tools';
import { formatInstant } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { CodeBlock } from '../../ui/copy-button';
import { Failure } from '../../ui/error-state';
import { Form, TextField } from '../../ui/form';
import { ConfirmButton } from '../forms/confirm-button';
import { KeyPicker } from './key-picker';
import type { ServerLine } from './prepare-tools';

/** Grants of a server with per-user sign-in: who connected, and the link to connect another user. */
export function GrantsSection({ server }: { readonly server: ServerLine }) {
  const grants = useMcpGrants(server.id);
  const rows = grants.data?.data ?? [];
  const keyName = useKeyNames(rows.map((row) => row.api_key_id));
  return (
    <section className="grid gap-2 *:min-w-0">
      <h3 className="text-xs font-semibold text-muted">Users who gave consent</h3>
      <Failure of={grants} />
      {grants.data !== undefined && rows.length === 0 && <p className="text-muted">Nobody yet.</p>}
      <ul className="divide-y">
        {rows.map((grant) => (
          <GrantLine key={grant.id} server={server} grant={grant} keyName={keyName(grant.api_key_id)} />
        ))}
      </ul>
      <ConsentLink server={server} />
    </section>
  );
}

interface LineProps {
  readonly server: ServerLine;
  readonly grant: McpGrant;
  readonly keyName: string;
}

function GrantLine({ server, grant, keyName }: LineProps) {
  const { timeZone } = usePage();
  const forget = useChange({
    run: () => api.mcp.servers[':id'].grants[':grant_id'].$delete({ param: { id: server.id, grant_id: grant.id } }),
    affects: [['mcp', 'grants', server.id]],
    done: 'Consent forgotten',
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <span className="min-w-0 grow wrap-anywhere">
        {keyName}
        {grant.customer_id !== null && `, customer ${grant.customer_id}`}
        <span className="block text-xs text-muted">
          {grant.issuer}, since {formatInstant(grant.created_at, timeZone)}
        </span>
      </span>
      <ConfirmButton
        size="small"
        title="Forget this consent?"
        impact={`Calls of ${keyName} ask for consent again, within two seconds.`}
        confirmLabel="Forget consent"
        change={forget}
        onConfirm={(close) => forget.mutate(undefined, { onSuccess: close })}
      >
        Forget
      </ConfirmButton>
    </li>
  );
}

/** Creates a consent link for one user; nobody else can use the grant. */
function ConsentLink({ server }: { readonly server: ServerLine }) {
  const mayChange = useMayChange();
  const [sender, setSender] = useState<ToolSender>({ projectId: '', keyId: '' });
  const [customer, setCustomer] = useState('');
  const ask = useChange({
    run: () =>
      read(
        api.mcp.servers[':id'].consent.$post({
          param: { id: server.id },
          json: { api_key_id: sender.keyId, customer_id: customer.trim() === '' ? null : customer.trim() },
        }),
      ),
    affects: [],
  });
  if (!mayChange) return null;
  return (
    <details className="rounded-md border">
      <summary className="cursor-pointer px-3 py-2 text-xs font-medium">Make a consent link</summary>
      <Form onSubmit={() => ask.mutate(undefined)} className="grid gap-3 border-t px-3 py-3 *:min-w-0">
        <KeyPicker sender={sender} onChange={setSender} hint="What its user grants serves this key alone" />
        <TextField
          label="Customer (optional)"
          hint="As X-Customer-ID says it; without one the consent is for calls that name no customer"
          value={customer}
          onValue={setCustomer}
        />
        <div className="flex justify-end">
          <Button type="submit" kind="primary" disabled={ask.isPending || sender.keyId === ''}>
            Make link
          </Button>
        </div>
        <Failure of={ask} />
        {ask.data !== undefined && <CodeBlock label="For the user's browser, within 15 minutes" code={ask.data.url} />}
      </Form>
    </details>
  );
}
