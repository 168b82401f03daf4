import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Token, useTokens } from '../../api/settings';
import { formatAgo, formatInstant } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Plus } from '../../ui/icons';
import { Mono, Name } from '../../ui/name';
import { PlaceLink } from '../../ui/place-link';
import { ShownOnceDialog } from '../../ui/shown-once-dialog';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import { Managed } from '../forms/managed';
import { ManagedMark } from '../forms/managed-set';
import { type FieldSpec, readFuture } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';

/** Admin tokens and their roles. */
export function TokensCard() {
  const tokens = useTokens();
  const [isCreating, setIsCreating] = useState(false);
  const [opened, setOpened] = useState<Token | null>(null);
  return (
    <TableCard
      title="Admin tokens"
      actions={
        <ChangeButton onClick={() => setIsCreating(true)}>
          <Plus /> New token
        </ChangeButton>
      }
      caption="Admin tokens"
      query={tokens}
      columns={COLUMNS}
      rows={tokens.data?.data}
      rowKey={(row) => row.id}
      onRow={setOpened}
      emptyTitle="No named tokens"
      emptyHint={
        <>
          A token lets a person or a script use this dashboard and its API. Each has a role, shows in the audit, and can
          be revoked alone; ADMIN_TOKEN from the environment can't.
          <span className="mt-3 block">
            <ChangeButton kind="primary" onClick={() => setIsCreating(true)}>
              Make the first token
            </ChangeButton>
          </span>
        </>
      }
    >
      <NewToken open={isCreating} onClose={() => setIsCreating(false)} />
      {opened !== null && (
        <Managed of={{ resource: 'token', id: opened.id }} at="dialog">
          <TokenDialog of={opened} onClose={() => setOpened(null)} />
        </Managed>
      )}
    </TableCard>
  );
}

const lastUse = ({ last_used_at: at }: Token) => (at === null ? 'never' : formatAgo(at, Date.now()));

const COLUMNS: readonly Column<Token>[] = [
  {
    header: 'Name',
    value: (row) => row.name,
    cell: (row) => (
      <Name name={row.name}>
        <ManagedMark resource="token" id={row.id} />
      </Name>
    ),
  },
  { header: 'Role', value: (row) => row.role, tone: (row) => (row.role === 'admin' ? 'accent' : 'neutral') },
  { header: 'Starts with', value: (row) => row.prefix, cell: (row) => <Mono>{row.prefix}…</Mono> },
  {
    header: 'Created',
    wideOnly: true,
    value: (row) => row.created_at,
    cell: (row) => formatAgo(row.created_at, Date.now()),
  },
  { header: 'Last used', wideOnly: true, value: (row) => row.last_used_at, cell: lastUse },
  {
    header: 'Expires',
    wideOnly: true,
    value: (row) => row.expires_at,
    cell: ({ expires_at: at }) => {
      if (at === null) return 'never';
      return Date.parse(at) < Date.now() ? <Badge tone="warn">expired</Badge> : formatAgo(at, Date.now());
    },
  },
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'Shown in the audit log' },
  {
    ...{ name: 'can_read_bodies', label: 'Prompts and answers', kind: 'text' },
    options: { '': "by role: admins read them, others don't", true: 'readable', false: 'not readable' },
    read: (text) => text === 'true',
  },
  {
    name: 'role',
    label: 'Role',
    kind: 'text',
    options: { admin: 'admin: reads and changes', viewer: 'viewer: only reads', scim: 'scim: SCIM alone' },
  },
  {
    ...{ name: 'expires_at', label: 'Expires', kind: 'instant', read: readFuture },
    hint: 'Your local time. Leave empty for never.',
  },
];
const AFFECTS = [['tokens']];

/** Stays while it is closed: a token that is being made then is shown all the same. */
function NewToken({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const { data: tokens } = useTokens();
  const understood = (name: unknown) =>
    tokens?.data.some((token) => token.name === name) ? "another token's name. The audit can't tell them apart." : null;
  const [secret, setSecret] = useState<string | null>(null);
  const create = useChange({
    run: (json: { name: string; role: Token['role'] }) => read(api.tokens.$post({ json })),
    affects: AFFECTS,
  });
  const onSuccess = ({ token }: { token: string }) => {
    onClose();
    setSecret(token);
  };
  return (
    <>
      <SpecDialog
        title="New admin token"
        open={open}
        onClose={onClose}
        specs={FIELDS.map((spec) => (spec.name === 'name' ? { ...spec, understood } : spec))}
        resource={{ role: 'viewer' }}
        submitLabel="Create token"
        change={create}
        onSubmit={(body) => create.mutate(body as { name: string; role: Token['role'] }, { onSuccess })}
      />
      {secret !== null && (
        <ShownOnceDialog title="New admin token" label="Admin token" secret={secret} onClose={() => setSecret(null)} />
      )}
    </>
  );
}

/** When it last changed something, with the way to its changes; null while that is asked. */
function useLastChange({ name }: Token): ReactNode {
  const { data } = useQuery({
    queryKey: ['audit', 'of', name],
    queryFn: () => read(api.audit.$get({ query: { actor: name, limit: '1' } })),
  });
  const last = data?.data[0];
  if (data === undefined) return null;
  if (last === undefined) return 'none so far';
  return (
    <PlaceLink to="/audit" search={{ actor: name }} className="touch-line text-accent hover:underline">
      {formatAgo(last.created_at, Date.now())}
    </PlaceLink>
  );
}

function TokenDialog({ of: token, onClose }: DialogOf<Token>) {
  const revoke = useChange({
    run: () => api.tokens[':id'].$delete({ param: { id: token.id } }),
    affects: AFFECTS,
    done: 'Token revoked and its sessions ended',
  });
  const { timeZone } = usePage();
  const at = (instant: string) => `${formatInstant(instant, timeZone)}, ${formatAgo(instant, Date.now())}`;
  const facts = [
    ['Role', token.role],
    ['Prompts and answers', token.can_read_bodies ? 'readable' : 'not readable'],
    ['Created', at(token.created_at)],
    ['Expires', token.expires_at === null ? 'never' : at(token.expires_at)],
    ['Open dashboards', token.open_sessions],
    ['Last used', token.last_used_at === null ? 'never' : at(token.last_used_at)],
    ['Last change', useLastChange(token) ?? '…'],
  ] as const;
  return (
    <Dialog title={token.name} description={`${token.prefix}…`} onClose={onClose}>
      <dl className="mb-3 grid grid-cols-[auto_1fr] gap-x-6 gap-y-1">
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt className="text-muted">{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <div className="flex justify-end">
        <ConfirmButton
          title={`Revoke ${token.name}?`}
          impact="Its open dashboards are signed out, and programs that use it are refused. This cannot be undone."
          confirmLabel="Revoke"
          change={revoke}
          onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
        >
          Revoke token
        </ConfirmButton>
      </div>
    </Dialog>
  );
}
