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
export function Onboarding({ onDone }: { readonly onDone: () => void }) {
  const system = useSystem();
  const [secret, setSecret] = useState<string | null>(null);
  // Until the providers are known, it would show an example that none of them serves.
  if (system.data === undefined) return <Failure of={system} />;
  const { providers } = system.data;
  return (
    <div className="grid max-w-3xl gap-3">
      <Step number={1} title="Set up a provider" isDone={providers.length > 0}>
        <Providers names={providers} />
      </Step>
      <Step number={2} title="Create a key for your application" isDone={secret !== null}>
        <MakeKey secret={secret} onSecret={setSecret} />
      </Step>
      <FirstRequest secret={secret} onDone={onDone} />
      <DemoData onDone={onDone} />
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
      . {names.includes('demo') && 'demo is built in and already answers, without an account.'}
    </p>
  ) : (
    <p>
      Set a provider's key in the gateway's environment, e.g. <code className="font-mono">OPENAI_API_KEY=sk-…</code>,
      and restart it; or add one under{' '}
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
  if (secret !== null) return <CodeBlock label="Your key, shown only once" code={secret} />;
  return (
    <>
      <p className="mb-2">The key lets your application send requests. It is shown only once.</p>
      <ChangeButton
        kind="primary"
        disabled={projectId === undefined || create.isPending}
        onClick={() => create.mutate(undefined, { onSuccess: ({ key }) => onSecret(key) })}
      >
        Create key
      </ChangeButton>
      <Failure of={create} />
    </>
  );
}

interface FirstRequestProps {
  readonly secret: string | null;
  readonly onDone: () => void;
}

function FirstRequest({ secret, onDone }: FirstRequestProps) {
  const rows = useLogs({}, true).data?.rows;
  const isSeen = rows !== undefined && rows.length > 0;
  const model = useExampleModel();
  const send = useChange({
    run: () => chat({ apiKey: secret ?? '', model, prompt: 'Say hello in one sentence.' }),
    affects: [['logs'], ['stats']],
  });
  const code = snippets({ url: useGatewayUrl(), apiKey: secret ?? 'llm0_live_…', model });
  return (
    <Step number={3} title="Send a first request" isDone={isSeen}>
      <div className="grid gap-2">
        <CodeBlock label="curl" code={code.curl} />
        <div>
          <Button disabled={secret === null || send.isPending} onClick={() => send.mutate()}>
            Send from here
          </Button>
        </div>
        <Failure of={send} />
        {send.data !== undefined && (
          <section aria-label="Answer" aria-live="polite" className="rounded-md border px-3 py-2 wrap-anywhere">
            <p className="mb-1 text-xs text-muted">{model} answered</p>
            <p className="whitespace-pre-wrap">{send.data.text}</p>
          </section>
        )}
        {isSeen && (
          <div>
            <Button kind="primary" onClick={onDone}>
              Go to the overview
            </Button>
          </div>
        )}
      </div>
    </Step>
  );
}

function DemoData({ onDone }: { readonly onDone: () => void }) {
  const mayChange = useMayChange();
  const isOffered = useSystem().data?.demo_data;
  const demo = useChange({
    run: () => read(api['demo-data'].$post({ json: {} })),
    affects: [[]],
    done: (made) => `Generated ${made.requests} requests in ${made.projects} projects`,
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
            onClick={() => demo.mutate(undefined, { onSuccess: onDone })}
          >
            {demo.isPending ? 'Generating…' : 'Generate two weeks of sample traffic'}
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
