import { Link } from '@tanstack/react-router';
import { useId, useMemo, useState } from 'react';
import { formatCount } from '../../../format/format-number';
import { Badge } from '../../../ui/badge';
import { Button } from '../../../ui/button';
import { Card } from '../../../ui/card';
import { Markdown } from '../../../ui/markdown/markdown';
import { isRunning, type PlaygroundStore, type Run } from '../playground-store';
import type { ChatFault } from '../read-chat';
import type { ChatOutcome } from '../send-chat';
import { checkAnswer } from './check-answer';
import { billOf, describeAnswer, isBilledLater, measuresOf } from './describe-answer';
import { adviceFor } from './prepare-advice';
import { RouteTrace } from './route-trace';
import { useRequestRow } from './use-request-row';

interface Props {
  readonly run: Run;
  readonly store: PlaygroundStore;
  /** With several answers, the user chooses one. */
  readonly isOneOfSeveral: boolean;
}

/** One model's answer with its cost and time. */
export function AnswerCard({ run, store, isOneOfSeveral }: Props) {
  const { soFar, outcome, schema } = run;
  const { model, reason, price } = describeAnswer(run);
  const [isRaw, setIsRaw] = useState(false);
  const isGoing = isRunning(run);
  const isGood = outcome !== null && outcome.fault === null;
  return (
    <Card
      // The frame of its turn is enough.
      className={isOneOfSeveral ? '' : 'border-0!'}
      title={
        <>
          <span className="wrap-anywhere">{model}</span>
          {price !== null && <span className="nums ml-2 font-normal text-muted">{price}</span>}
          {reason !== null && <span className="block text-xs font-normal text-warn wrap-anywhere">{reason}</span>}
        </>
      }
      actions={<Actions {...{ run, store, isOneOfSeveral, isRaw }} onRaw={setIsRaw} />}
    >
      {soFar.reasoning !== '' && (
        <details className="mb-2 text-xs text-muted">
          <summary>Reasoning</summary>
          <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{soFar.reasoning}</p>
        </details>
      )}
      <section
        aria-label={`Answer from ${model}`}
        aria-live="polite"
        aria-busy={isGoing}
        className={isGoing ? 'min-h-10' : ''}
      >
        {soFar.text === '' && isGoing && <span className="text-muted">Waiting for the first token…</span>}
        {soFar.media.map(({ kind, url }) =>
          kind === 'image' ? (
            <img key={url} src={url} alt={`Made by ${model}`} className="max-h-96 max-w-full rounded border" />
          ) : (
            // biome-ignore lint/a11y/useMediaCaption: the text it speaks is above
            <audio key={url} src={url} controls aria-label={`Spoken by ${model}`} className="w-full" />
          ),
        )}
        {isRaw ? (
          <p className="whitespace-pre-wrap wrap-anywhere">{soFar.text}</p>
        ) : (
          <Markdown text={schema === null ? soFar.text : fenced(soFar.text)} />
        )}
        {soFar.toolCalls.map((call, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls keep their order
          <p key={at} className="mt-1 rounded-md bg-hover px-2 py-1 font-mono text-xs wrap-anywhere">
            {call.name}({call.arguments})
          </p>
        ))}
      </section>
      {isGood && schema !== null && soFar.text !== '' && <SchemaNote text={soFar.text} schema={schema} />}
      {outcome !== null && outcome.fault !== null && <Fault fault={outcome.fault} />}
      {outcome !== null && <Measures outcome={outcome} />}
    </Card>
  );
}

interface ActionsProps extends Props {
  readonly isRaw: boolean;
  readonly onRaw: (isRaw: boolean) => void;
}

function Actions({ run, store, isOneOfSeveral, isRaw, onRaw }: ActionsProps) {
  const { outcome } = run;
  return (
    <>
      {outcome !== null && <Outcome outcome={outcome} />}
      {run.isStopped && <Badge>stopped</Badge>}
      {isRunning(run) && (
        <Button size="small" aria-label={`Stop ${run.model}`} onClick={() => store.stop(run.id)}>
          Stop
        </Button>
      )}
      {run.soFar.text !== '' && (
        <Button size="small" kind="ghost" aria-pressed={isRaw} onClick={() => onRaw(!isRaw)}>
          Show as text
        </Button>
      )}
      {isOneOfSeveral && outcome?.fault === null && run.soFar.media.length === 0 && (
        <Button size="small" onClick={() => store.goOnWith(run.id)}>
          Continue with this answer
        </Button>
      )}
    </>
  );
}

const fenced = (text: string): string => (text === '' ? '' : `\`\`\`\`json\n${text}\n\`\`\`\``);

function Outcome({ outcome: { status, headers, fault, finishReason } }: { readonly outcome: ChatOutcome }) {
  const cache = headers.find(([name]) => name === 'x-cache-hit')?.[1];
  return (
    <>
      <Badge tone={fault === null ? 'good' : 'bad'}>{status === 0 ? 'no answer' : status}</Badge>
      {finishReason !== null && finishReason !== 'stop' && <Badge tone="warn">{finishReason}</Badge>}
      {cache !== undefined && (
        <Badge tone={cache === 'miss' ? 'neutral' : 'accent'}>
          {cache === 'miss' ? 'cache miss' : `${cache} cache hit`}
        </Badge>
      )}
    </>
  );
}

function SchemaNote({ text, schema }: { readonly text: string; readonly schema: Record<string, unknown> }) {
  const { isValid, faults } = useMemo(() => checkAnswer(text, schema), [text, schema]);
  if (isValid) return <p className="mt-2 text-xs text-good">Fits the schema.</p>;
  return (
    <div role="alert" className="mt-2 rounded-md bg-bad-soft px-3 py-2 text-xs text-bad">
      <p className="font-medium">Does not match the schema</p>
      <ul>
        {faults.map((fault) => (
          <li key={fault} className="wrap-anywhere">
            {fault}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Fault({ fault }: { readonly fault: ChatFault }) {
  const { text, page } = adviceFor(fault.code);
  return (
    <div role="alert" className="mt-2 grid gap-1 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <p className="wrap-anywhere">
        <code className="font-mono text-xs">{fault.code}</code> {fault.message}
      </p>
      {fault.attempts.map((attempt, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts keep their order
        <p key={at} className="text-xs wrap-anywhere">
          {at + 1}. {attempt}
        </p>
      ))}
      <p className="text-xs text-text">
        {fault.retryAfterSeconds !== null && `Try again in ${formatCount(fault.retryAfterSeconds)} s. `}
        {text}{' '}
        {page !== undefined && (
          <Link to={page.to} className="text-accent underline">
            {page.label}
          </Link>
        )}
      </p>
    </div>
  );
}

function Measures({ outcome }: { readonly outcome: ChatOutcome }) {
  const [isTraced, setIsTraced] = useState(false);
  const id = useId();
  const { headers, requestId } = outcome;
  const row = useRequestRow(isBilledLater(outcome) ? requestId : null).data;
  const measures = measuresOf(outcome, billOf(outcome, row ?? null));
  return (
    <>
      <div className="mt-3 flex flex-wrap justify-between gap-x-6 gap-y-1 border-t pt-2 text-xs">
        <dl className="flex flex-wrap gap-x-6 gap-y-1">
          {measures.map(([name, value]) => (
            <div key={name} className="flex gap-1.5">
              <dt className="text-muted">{name}</dt>
              <dd className="nums font-medium">{value}</dd>
            </div>
          ))}
        </dl>
        {requestId !== null && <RequestLink id={requestId} />}
      </div>
      {requestId !== null && (
        <details className="mt-2 text-xs" onToggle={(event) => setIsTraced(event.currentTarget.open)}>
          <summary className="cursor-pointer text-muted" aria-controls={id}>
            Route
          </summary>
          <div id={id} className="mt-1">
            {isTraced && <RouteTrace requestId={requestId} />}
          </div>
        </details>
      )}
      <details className="mt-2 text-xs">
        <summary className="cursor-pointer text-muted">Headers</summary>
        <dl className="mt-1 grid gap-x-4 font-mono sm:grid-cols-[auto_1fr]">
          {headers.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}

const RequestLink = ({ id }: { readonly id: string }) => (
  <Link to="/requests" search={(kept) => ({ ...kept, open: id })} className="text-accent underline">
    View this request
  </Link>
);
