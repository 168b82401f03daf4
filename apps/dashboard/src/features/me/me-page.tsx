import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';
import {
  type Key,
  type KeyInput,
  type KeyWithSecret,
  SPARK_DAYS,
  useProjectNames,
  useProjectOptions,
} from '../../api/projects';
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
import { NEW_KEY_FIELDS } from '../projects/field-specs';
import { KEY_COLUMNS } from '../projects/keys-card';
import { SecretDialog } from '../projects/secret-dialog';
import { describeDays } from '../projects/spending/prepare-days';
import { PageFrame } from '../shell/page-frame';
import { OwnRequests } from './own-requests';
import { addDays } from './prepare-own';

const MINE = ['keys', 'mine'];

/** A person's own keys with their spend, and how to use one. */
export function MePage() {
  const url = useGatewayUrl();
  const session = useSession().data;
  return (
    <PageFrame title="My keys" intro="Keys of your own, within the limits of their projects and teams.">
      {session?.user == null ? (
        <NoPerson />
      ) : (
        <Needed value="change_own_keys">
          <OwnKeys />
        </Needed>
      )}
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

/** An admin token is no person. */
function NoPerson() {
  return (
    <Card title="No keys with an admin token">
      <p>
        This page shows a person their own keys, spend and requests. You signed in with an admin token, which belongs to
        nobody. Find the keys of all projects under{' '}
        <Link to="/projects" className="underline">
          Projects & keys
        </Link>
        , and the people who sign in under{' '}
        <Link to="/teams" className="underline">
          Teams & people
        </Link>
        .
      </p>
    </Card>
  );
}

function OwnKeys() {
  const keys = usePages({
    queryKey: MINE,
    readPage: (at) => read(api.me.keys.$get({ query: { limit: '100', spend_days: String(SPARK_DAYS), ...at } })),
  });
  const opened = useOpened();
  const projectName = useProjectNames();
  const [secret, setSecret] = useState<KeyWithSecret | null>(null);
  const rows = keys.data?.rows as readonly Key[] | undefined;
  const hasKeys = rows !== undefined && rows.length > 0;
  const project: Column<Key> = { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) };
  return (
    <>
      <TableCard
        title="Keys"
        actions={
          <ChangeButton onClick={() => opened.open('new')}>
            <Plus /> New key
          </ChangeButton>
        }
        caption="Your keys; each opens its requests"
        query={keys}
        above={hasKeys && <p className="px-3 py-2 text-muted">Your keys: {describeDays(addDays(rows), Date.now())}.</p>}
        columns={[...KEY_COLUMNS.slice(0, 1), project, ...KEY_COLUMNS.slice(1)]}
        rows={rows}
        rowKey={(row) => row.id}
        linkOf={(row) => requestsLink({ api_key_id: row.id })}
        emptyTitle="No keys of your own yet"
        emptyHint="Create one, or run llm0 login."
      >
        <MoreRows pages={keys} shown={rows?.length ?? 0} />
        {opened.id === 'new' && <NewKey onClose={opened.close} onSecret={setSecret} />}
        {secret !== null && <SecretDialog of={secret} onClose={() => setSecret(null)} />}
      </TableCard>
      {hasKeys && <OwnRequests keys={rows} />}
    </>
  );
}

interface NewKeyProps {
  readonly onClose: () => void;
  readonly onSecret: (key: KeyWithSecret) => void;
}

function NewKey({ onClose, onSecret }: NewKeyProps) {
  const projects = useProjectOptions();
  // Those of admins would belong to nobody.
  const owner = useSession().data?.user?.id ?? null;
  const create = useChange({
    run: ({ project_id: id, ...json }: KeyInput & { readonly project_id: string }) =>
      read(api.projects[':id'].keys.$post({ param: { id }, json: { ...json, user_id: owner } })),
    affects: [['keys']],
  });
  const onSuccess = (key: KeyWithSecret) => {
    onClose();
    onSecret(key);
  };
  const project: FieldSpec = {
    ...{ name: 'project_id', label: 'Project', kind: 'text', required: true },
    options: { '': 'Choose a project', ...Object.fromEntries(projects) },
  };
  if (projects.length === 0) return null;
  const only = projects.length === 1 ? projects[0]?.[0] : '';
  return (
    <SpecDialog
      title="New key"
      onClose={onClose}
      specs={[project, ...NEW_KEY_FIELDS]}
      resource={{ project_id: only, budget_period: 'total' }}
      submitLabel="Create key"
      change={create}
      onSubmit={(body) => create.mutate(body as unknown as KeyInput & { project_id: string }, { onSuccess })}
    />
  );
}
