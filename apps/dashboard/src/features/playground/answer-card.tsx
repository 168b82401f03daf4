import { formatCount, formatMs, NOTHING } from '../../format/format-number';
import { formatUsdExact } from '../../format/format-usd';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import type { ChatOutcome } from './send-chat';

interface Props {
  readonly model: string;
  readonly text: string;
  readonly outcome: ChatOutcome | null;
  readonly isRunning: boolean;
}

/** One model's answer with what it took. */
export function AnswerCard({ model, text, outcome, isRunning }: Props) {
  const cache = outcome?.headers.find(([name]) => name === 'x-cache-hit')?.[1];
  return (
    <Card
      title={model}
      actions={
        outcome && (
          <>
            <Badge tone={outcome.ok ? 'good' : 'bad'}>{outcome.status}</Badge>
            {cache !== undefined && (
              <Badge tone={cache === 'miss' ? 'neutral' : 'accent'}>
                {cache === 'miss' ? 'cache miss' : `${cache} cache hit`}
              </Badge>
            )}
          </>
        )
      }
    >
      <div
        aria-live="polite"
        aria-busy={isRunning}
        className={`min-h-16 whitespace-pre-wrap wrap-anywhere ${outcome !== null && !outcome.ok ? 'text-bad' : ''}`}
      >
        {text === '' && isRunning ? <span className="text-muted">Waiting for the first token …</span> : text}
      </div>
      {outcome !== null && (
        <>
          <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 border-t pt-2 text-xs">
            {(
              [
                ['Cost', outcome.costUsd === null ? NOTHING : formatUsdExact(outcome.costUsd)],
                ['First token', formatMs(outcome.ttftMs)],
                ['Total', formatMs(outcome.totalMs)],
                ['Tokens in', outcome.tokensIn === null ? NOTHING : formatCount(outcome.tokensIn)],
                ['Tokens out', outcome.tokensOut === null ? NOTHING : formatCount(outcome.tokensOut)],
              ] as const
            ).map(([name, value]) => (
              <div key={name} className="flex gap-1.5">
                <dt className="text-muted">{name}</dt>
                <dd className="nums font-medium">{value}</dd>
              </div>
            ))}
          </dl>
          <details className="mt-2 text-xs">
            <summary className="text-muted">Headers</summary>
            <dl className="mt-1 grid gap-x-4 font-mono sm:grid-cols-[auto_1fr]">
              {outcome.headers.map(([name, value]) => (
                <div key={name} className="contents">
                  <dt className="text-muted">{name}</dt>
                  <dd className="wrap-anywhere">{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        </>
      )}
    </Card>
  );
}
