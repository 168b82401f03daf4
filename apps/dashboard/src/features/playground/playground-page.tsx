import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { useSystem } from '../../api/settings';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ErrorState } from '../../ui/error-state';
import { CheckField, Field, TextField } from '../../ui/field';
import { PageFrame } from '../shell/page-frame';
import { AnswerCard } from './answer-card';
import { type ChatOutcome, sendChat } from './send-chat';

const KEY_HOURS = 24;
const KEY_BUDGET_USD = '1';

interface Answer {
  readonly model: string;
  readonly text: string;
  readonly outcome: ChatOutcome | null;
}

/** One prompt to one model or to two, as an application would send it: with a key, through every limit and cache. */
export function PlaygroundPage() {
  const demo = useSystem().data?.providers.includes('demo') === true;
  const [apiKey, setApiKey] = useState('');
  const [first, setFirst] = useState('');
  const [second, setSecond] = useState('');
  const [system, setSystem] = useState('');
  const [prompt, setPrompt] = useState('Explain in two sentences what an LLM gateway is for.');
  const [stream, setStream] = useState(true);
  const [answers, setAnswers] = useState<readonly Answer[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const abort = useRef<AbortController | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const models = useQuery({
    queryKey: ['playground-models', apiKey],
    enabled: apiKey !== '',
    retry: false,
    queryFn: async () => {
      const response = await fetch('/v1/models', {
        headers: { authorization: `Bearer ${apiKey}` },
        credentials: 'omit',
      });
      const body = (await response.json()) as { data?: { id: string }[]; error?: { message: string } };
      if (!response.ok) throw new Error(body.error?.message ?? `Status ${response.status}`);
      return body.data?.map(({ id }) => id) ?? [];
    },
  });
  const fallback = demo ? 'demo-chat' : 'gpt-4o-mini';
  const run = async () => {
    const chosen = [first || fallback, ...(second === '' ? [] : [second])];
    abort.current = new AbortController();
    const { signal } = abort.current;
    setError(null);
    setIsRunning(true);
    setAnswers(chosen.map((model) => ({ model, text: '', outcome: null })));
    const put = (index: number, change: Partial<Answer>) =>
      setAnswers((before) => before.map((answer, at) => (at === index ? { ...answer, ...change } : answer)));
    try {
      await Promise.all(
        chosen.map(async (model, index) => {
          const outcome = await sendChat({
            apiKey,
            model,
            prompt,
            system,
            stream,
            signal,
            onText: (text) => put(index, { text }),
          });
          put(index, { text: outcome.text, outcome });
        }),
      );
    } catch (cause) {
      if (!signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <PageFrame title="Playground" intro="Sends real requests: they count, cost and are cached as any other.">
      <div className="grid gap-4 xl:grid-cols-[24rem_1fr]">
        <Card title="Request">
          <form
            className="grid gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              void run();
            }}
          >
            <KeyField value={apiKey} onChange={setApiKey} />
            {models.error && <ErrorState error={models.error} />}
            <datalist id="playground-models">
              {models.data?.map((id) => (
                <option key={id} value={id} />
              ))}
            </datalist>
            <TextField
              label="Model"
              list="playground-models"
              placeholder={fallback}
              value={first}
              onChange={(event) => setFirst(event.target.value)}
            />
            <TextField
              label="Compare with"
              list="playground-models"
              placeholder="nothing"
              value={second}
              onChange={(event) => setSecond(event.target.value)}
            />
            <TextArea label="System" value={system} rows={2} onChange={setSystem} />
            <TextArea label="Prompt" value={prompt} rows={6} onChange={setPrompt} />
            <CheckField label="Stream" checked={stream} onChange={(event) => setStream(event.target.checked)} />
            <div className="flex justify-end gap-2">
              {isRunning && <Button onClick={() => abort.current?.abort()}>Stop</Button>}
              <Button type="submit" kind="primary" disabled={apiKey === '' || prompt.trim() === '' || isRunning}>
                Send
              </Button>
            </div>
          </form>
        </Card>
        <div className="grid min-w-0 content-start gap-4">
          {error !== null && <ErrorState error={error} />}
          {answers.length === 0 && (
            <Card>
              <p className="py-10 text-center text-muted">
                The answer, its headers, its cost and how the cache took it show here.
              </p>
            </Card>
          )}
          {answers.map((answer, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same model may be asked twice
            <AnswerCard key={index} {...answer} isRunning={isRunning && answer.outcome === null} />
          ))}
        </div>
      </div>
    </PageFrame>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly onChange: (text: string) => void;
}

function TextArea({ label, value, rows, onChange }: TextAreaProps) {
  return (
    <Field label={label}>
      {(wiring) => (
        <textarea
          {...wiring}
          rows={rows}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="w-full resize-y rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-sm"
        />
      )}
    </Field>
  );
}

/** A key is pasted, or made for a day; it stays in this page's memory only. */
function KeyField({ value, onChange }: { readonly value: string; readonly onChange: (key: string) => void }) {
  const projects = useProjects();
  const mayChange = useMayChange();
  const project = projects.data?.data.at(-1);
  const create = useChange({
    run: () => {
      const json = {
        name: 'playground',
        budget_usd: KEY_BUDGET_USD,
        expires_at: new Date(Date.now() + KEY_HOURS * 3_600_000).toISOString(),
      };
      return read(api.projects[':id'].keys.$post({ param: { id: project?.id ?? '' }, json }));
    },
    affects: [['keys']],
    done: `A key for ${KEY_HOURS} hours and $${KEY_BUDGET_USD} was made in ${project?.name}`,
  });
  return (
    <div className="grid gap-1.5">
      <TextField
        label="Key"
        type="password"
        autoComplete="off"
        placeholder="llm0_live_…"
        value={value}
        hint="Stays in this page only"
        error={create.error?.message}
        onChange={(event) => onChange(event.target.value.trim())}
      />
      {value === '' && mayChange && project !== undefined && (
        <div>
          <Button
            size="small"
            disabled={create.isPending}
            onClick={() => create.mutate(undefined, { onSuccess: ({ key }) => onChange(key) })}
          >
            Make one for a day
          </Button>
        </div>
      )}
    </div>
  );
}
