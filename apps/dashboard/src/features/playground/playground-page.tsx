import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { PageFrame } from '../shell/page-frame';
import { AnswerCard } from './answer-card';
import { RequestForm } from './request-form';
import { useAnswers } from './use-answers';

/** One prompt to one model or to two, as an application would send it: with a key, through every limit and cache. */
export function PlaygroundPage() {
  const { answers, error, isRunning, ask, stop } = useAnswers();
  return (
    <PageFrame title="Playground" intro="Sends real requests: they count, cost and are cached as any other.">
      <div className="grid gap-4 xl:grid-cols-[24rem_1fr]">
        <Card title="Request">
          <RequestForm isRunning={isRunning} onSend={(models, prompt) => void ask(models, prompt)} onStop={stop} />
        </Card>
        <div className="grid min-w-0 content-start gap-4">
          <Failure of={{ error }} />
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
