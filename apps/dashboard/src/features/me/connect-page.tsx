import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjects } from '../../api/projects';
import { useSession } from '../../api/session';
import { useGatewayUrl } from '../../api/settings';
import { countOf } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Form, SelectField } from '../../ui/form';
import { PageFrame } from '../shell/page-frame';
import type { ConnectSearch } from './connect-search';

const DAY_MS = 86_400_000;

/** Gives a key to `llm0 login` on this computer, if the person allows it. */
export function ConnectPage() {
  const { port, state, days = '1' } = useSearch({ strict: false }) as ConnectSearch;
  return (
    <PageFrame title="Connect this computer">
      <Card title="A key for this computer">
        {port === undefined || state === undefined ? (
          <p>
            This address is incomplete. Run <code className="font-mono">llm0 login</code> again: it opens the whole one.
          </p>
        ) : (
          <Ask at={`http://127.0.0.1:${port}/`} state={state} days={Number(days)} />
        )}
      </Card>
    </PageFrame>
  );
}

interface AskProps {
  /** Where the command line listens. */
  readonly at: string;
  readonly state: string;
  readonly days: number;
}

function Ask({ at, state, days }: AskProps) {
  const projects = useProjects();
  const url = useGatewayUrl();
  const owner = useSession().data?.user?.id ?? null;
  const all = projects.data?.data ?? [];
  const [chosen, setChosen] = useState('');
  const project = all.find(({ id }) => id === chosen) ?? all[0];
  const form = useRef<HTMLFormElement>(null);
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const allow = useChange({
    run: ({ id }: { readonly id: string }) => {
      const expires = new Date(Date.now() + days * DAY_MS).toISOString();
      const json = { name: 'llm0 login', expires_at: expires, user_id: owner };
      return read(api.projects[':id'].keys.$post({ param: { id }, json }));
    },
    affects: [['keys']],
  });
  const send = () => {
    if (project === undefined) return;
    allow.mutate(project, {
      onSuccess: ({ key, expires_at: expires, state: ofKey }) => {
        const waits = String(ofKey === 'requested');
        setGiven({ state, key, url, project: project.name, expires_at: expires ?? '', waits });
      },
    });
  };
  // The fields are there by then.
  useEffect(() => {
    if (given.key !== undefined) form.current?.submit();
  }, [given]);
  return (
    <>
      <Form onSubmit={send}>
        <p>
          llm0 login on this computer asks for a key. It works for {countOf(days, 'day')}, within the limits of its
          project. Continue only if you ran it yourself.
        </p>
        <Failure of={projects} />
        <Failure of={allow} />
        <SelectField
          label="Project"
          options={all.map(({ id, name }) => [id, name] as const)}
          value={project?.id ?? ''}
          onValue={setChosen}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={() => location.assign(`${at}?${new URLSearchParams({ state })}`)}>Refuse</Button>
          <Button type="submit" kind="primary" disabled={project === undefined || allow.isPending}>
            Allow
          </Button>
        </div>
      </Form>
      <form ref={form} method="post" action={at} hidden>
        {Object.entries(given).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </form>
    </>
  );
}
