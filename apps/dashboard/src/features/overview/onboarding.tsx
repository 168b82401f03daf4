import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useLogs } from '../../api/logs';
import { useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { useExampleModel, useGatewayUrl, useSystem } from '../../api/settings';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { CodeBlock } from '../../ui/copy-button';
import { Failure } from '../../ui/error-state';
import { ChangeButton } from '../forms/change-button';
import { chat } from '../playground/send-chat';
import { snippets } from '../projects/prepare-snippets';

/** On an empty database: a provider, a key, a first request, in under a minute. */
export function Onboarding() {
  const providers = useSystem().data?.providers ?? [];
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <div className="grid max-w-3xl gap-3">
      <Step number={1} title="A provider" isDone={providers.length > 0}>
        <Providers names={providers} />
      </Step>
      <Step number={2} title="A key for your application" isDone={secret !== null}>
        <MakeKey secret={secret} onSecret={setSecret} />
      </Step>
      <FirstRequest secret={secret} />
      <DemoData />
    </div>
  );
}

function Providers({ names }: { readonly names: readonly string[] }) {
  return names.length > 0 ? (
    <p>
      Ready:{' '}
      {names.map((name) => (
        <Badge key={name}>{name}</Badge>
      ))}
      . {names.includes('demo') && 'demo is built in and answers without an account.'}
    </p>
  ) : (
    <p>
      Set a provider's key in the gateway's environment, e.g. <code className="font-mono">OPENAI_API_KEY=sk-…</code>,
      and start it again; or add one under{' '}
      <Link to="/routing" className="text-accent underline">
        Routing
      </Link>
      .
    </p>
  );
}

interface MakeKeyProps {
  readonly secret: string | null;
  readonly onSecret: (secret: string) => void;
}

function MakeKey({ secret, onSecret }: MakeKeyProps) {
  const projectId = useProjects().data?.data.at(-1)?.id;
  const create = useChange({
    run: () =>
      read(api.projects[':id'].keys.$post({ param: { id: projectId ?? '' }, json: { name: 'first request' } })),
    affects: [['keys']],
  });
  if (secret !== null) return <CodeBlock label="Your key, shown this once" code={secret} />;
  return (
    <>
      <p className="mb-2">The key lets your application send requests. It is shown once.</p>
      <ChangeButton
        kind="primary"
        disabled={projectId === undefined || create.isPending}
        onClick={() => create.mutate(undefined, { onSuccess: ({ key }) => onSecret(key) })}
      >
        Make a key
      </ChangeButton>
      <Failure of={create} />
    </>
  );
}

function FirstRequest({ secret }: { readonly secret: string | null }) {
  const isSeen = useLogs({}, true).data?.rows.length !== 0;
  const model = useExampleModel();
  const send = useChange({
    run: () => chat({ apiKey: secret ?? '', model, prompt: 'Say hello in one sentence.', stream: false }),
    affects: [['logs'], ['stats']],
    done: 'Answered. It shows up in the overview in a moment.',
  });
  const code = snippets({ url: useGatewayUrl(), apiKey: secret ?? 'llm0_live_…', model });
  return (
    <Step number={3} title="A first request" isDone={isSeen}>
      <div className="grid gap-2">
        <CodeBlock label="curl" code={code.curl} />
        <div>
          <Button disabled={secret === null || send.isPending} onClick={() => send.mutate()}>
            Send it from here
          </Button>
        </div>
        <Failure of={send} />
      </div>
    </Step>
  );
}

function DemoData() {
  const mayChange = useMayChange();
  const isOffered = useSystem().data?.demo_data;
  const demo = useChange({
    run: () => read(api['demo-data'].$post({ json: {} })),
    affects: [[]],
    done: (made) => `${made.requests} requests of ${made.projects} projects were made up`,
  });
  return (
    <>
      {isOffered && (
        <p className="text-muted">
          Only looking around?{' '}
          <button
            type="button"
            className="text-accent underline"
            disabled={!mayChange || demo.isPending}
            onClick={() => demo.mutate()}
          >
            {demo.isPending ? 'Making it up …' : 'Make up a fortnight of traffic'}
          </button>
          , or run <code className="font-mono">bun run llm0 demo-data</code>.
        </p>
      )}
      <Failure of={demo} />
    </>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <section className="flex gap-3 rounded-lg border bg-panel p-4">
      <span
        className={`flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold ${isDone ? 'bg-good-soft text-good' : 'bg-accent-soft text-accent'}`}
      >
        {isDone ? '✓' : number}
      </span>
      <div className="min-w-0 flex-1">
        <h2 className="mb-1 font-semibold">{title}</h2>
        {children}
      </div>
    </section>
  );
}
