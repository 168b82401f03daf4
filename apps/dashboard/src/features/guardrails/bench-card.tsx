import { useState } from 'react';
import { useChange } from '../../api/change';
import { type Tried, tryText, usePolicy } from '../../api/guardrails';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { CodeBlock } from '../../ui/copy-button';
import { Failure } from '../../ui/error-state';
import { Field, Form, Select, TextArea } from '../../ui/form';
import { OfProject } from './choose-project';
import { PARTS, prepareTried } from './prepare-guardrails';
import { ReplayCard } from './replay-card';

const SIDES = { input: 'a request', output: 'an answer' } as const;

/** Effect of a project's rules on a text and on past requests. */
export function BenchCard() {
  return (
    <OfProject>
      {(projectId) => (
        <div className="grid gap-4 *:min-w-0">
          <TryCard key={projectId} projectId={projectId} />
          <ReplayCard key={`replay ${projectId}`} projectId={projectId} />
        </div>
      )}
    </OfProject>
  );
}

function TryCard({ projectId }: { readonly projectId: string }) {
  const policy = usePolicy(projectId);
  const [text, setText] = useState('');
  const [on, setOn] = useState<keyof typeof SIDES>('input');
  const [part, setPart] = useState<keyof typeof PARTS | ''>('');
  const run = useChange({
    run: () => tryText(projectId, { text, on, ...(part === '' ? {} : { part }) }),
    affects: [],
  });
  const isEmpty = policy.data?.rules.length === 0;
  return (
    <Card title="Try a text">
      <Form onSubmit={() => run.mutate(undefined)}>
        <TextArea
          label="Text"
          rows={5}
          value={text}
          onValue={setText}
          hint="No model answers, and nothing is kept or logged. Rules with a moderation model or a webhook send your text to it."
        />
        <div className="flex flex-wrap items-end gap-3">
          <Field label="As part of">
            {(wiring) => (
              <Select {...wiring} options={SIDES} value={on} onValue={(value) => setOn(value as keyof typeof SIDES)} />
            )}
          </Field>
          <Field label="Said by">
            {(wiring) => (
              <Select
                {...wiring}
                anyLabel={on === 'input' ? 'user' : 'assistant'}
                options={PARTS}
                value={part}
                onValue={(value) => setPart(value as keyof typeof PARTS | '')}
              />
            )}
          </Field>
          <Button type="submit" kind="primary" disabled={run.isPending || text === ''}>
            {run.isPending ? 'Checking…' : 'Check text'}
          </Button>
          {isEmpty && <span className="pb-1.5 text-muted">This project has no rules yet.</span>}
        </div>
        <Failure of={run} />
        {run.data !== undefined && <TriedView tried={run.data} />}
      </Form>
    </Card>
  );
}

function TriedView({ tried }: { readonly tried: Tried }) {
  return (
    <section aria-label="Result" className="grid gap-3 *:min-w-0">
      {tried.blocked_by === null ? (
        <p className="text-good">It may pass.</p>
      ) : (
        <p className="text-bad wrap-anywhere">It does not pass: {tried.blocked_by}.</p>
      )}
      <ul className="grid gap-1">
        {prepareTried(tried).map(({ name, outcome, tone, matches }) => (
          <li key={name} className="flex flex-wrap items-center gap-2">
            <span className="wrap-anywhere">{name}</span>
            <Badge tone={tone}>{outcome}</Badge>
            {matches !== null && matches > 0 && <span className="nums text-muted">{matches}×</span>}
          </li>
        ))}
      </ul>
      <CodeBlock label="As it would go on" code={tried.text} />
    </section>
  );
}
