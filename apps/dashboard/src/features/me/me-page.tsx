import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';
import { type Key, type KeyInput, type KeyWithSecret, useProjectNames, useProjects } from '../../api/projects';
import { Needed, useSession } from '../../api/session';
import { useGatewayUrl } from '../../api/settings';
import { useOpened } from '../../range/use-opened';
import { requestsLink } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { CodeBlock } from '../../ui/copy-button';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { KEY_FIELDS } from '../projects/field-specs';
import { KEY_COLUMNS } from '../projects/keys-card';
import { SecretDialog } from '../projects/secret-dialog';
import { PageFrame } from '../shell/page-frame';

const MINE = ['keys', 'mine'];

/** A person's own keys with their spend, and how to use one. */
export function MePage() {
  const url = useGatewayUrl();
  return (
    <PageFrame title="My keys" intro="Keys of your own, within the limits of their projects and teams.">
      <Needed value="change_own_keys">
        <OwnKeys />
      </Needed>
      <Card title="On your computer">
        <p className="mb-2">Sign in once, and SDKs, Claude Code, Codex and Gemini CLI find a short-lived key:</p>
        <CodeBlock label="Sign in" code={`LLM0_URL=${url} llm0 login\neval "$(llm0 env)"`} />
        <p className="mt-2 text-xs text-muted">
          <code>llm0</code> is the gateway's{' '}
          <a className="underline" href="/docs/reference/cli">
            command line
          </a>
          : in a clone of its repository, write <code>bun run llm0</code>.
        </p>
      </Card>
    </PageFrame>
  );
}

function OwnKeys() {
  const keys = usePages({
    queryKey: MINE,
    readPage: (at) => read(api.me.keys.$get({ query: { limit: '100', ...at } })),
  });
  const opened = useOpened();
  const projectName = useProjectNames();
  const [secret, setSecret] = useState<KeyWithSecret | null>(null);
  // Keys that a token makes belong to nobody.
  const isPerson = useSession().data?.user != null;
  const rows = keys.data?.rows as readonly Key[] | undefined;
  const project: Column<Key> = { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) };
  return (
    <TableCard
      title="Keys"
      actions={
        isPerson && (
          <ChangeButton onClick={() => opened.open('new')}>
            <Plus /> New key
          </ChangeButton>
        )
      }
      caption="Your keys; each opens its requests"
      query={keys}
      columns={[...KEY_COLUMNS.slice(0, 1), project, ...KEY_COLUMNS.slice(1)]}
      rows={rows}
      rowKey={(row) => row.id}
      linkOf={(row) => requestsLink({ api_key_id: row.id })}
      emptyTitle="No keys of your own yet"
      emptyHint={
        isPerson
          ? 'Create one, or run llm0 login.'
          : 'An admin token is no person, so it has none. Keys of projects are under Projects & keys.'
      }
    >
      <MoreRows pages={keys} shown={rows?.length ?? 0} />
      {isPerson && opened.id === 'new' && <NewKey onClose={opened.close} onSecret={setSecret} />}
      {secret !== null && <SecretDialog of={secret} onClose={() => setSecret(null)} />}
    </TableCard>
  );
}

interface NewKeyProps {
  readonly onClose: () => void;
  readonly onSecret: (key: KeyWithSecret) => void;
}

function NewKey({ onClose, onSecret }: NewKeyProps) {
  const projects = useProjects().data?.data ?? [];
  const create = useChange({
    run: ({ project_id: id, ...json }: KeyInput & { readonly project_id: string }) =>
      read(api.projects[':id'].keys.$post({ param: { id }, json })),
    affects: [['keys']],
  });
  const onSuccess = (key: KeyWithSecret) => {
    onClose();
    onSecret(key);
  };
  const project: FieldSpec = {
    ...{ name: 'project_id', label: 'Project', kind: 'text', required: true },
    options: { '': 'Choose a project', ...Object.fromEntries(projects.map(({ id, name }) => [id, name])) },
  };
  if (projects.length === 0) return null;
  const only = projects.length === 1 ? projects[0]?.id : '';
  return (
    <SpecDialog
      title="New key"
      onClose={onClose}
      specs={[project, ...KEY_FIELDS]}
      resource={{ project_id: only, budget_period: 'total' }}
      submitLabel="Create key"
      change={create}
      onSubmit={(body) => create.mutate(body as unknown as KeyInput & { project_id: string }, { onSuccess })}
    />
  );
}
