import { useRef, useState } from 'react';
import { type ChatOutcome, type ChatWish, sendChat } from './send-chat';

export interface Answer {
  readonly model: string;
  /** As much of it as there is. */
  readonly text: string;
  /** null while it is on its way. */
  readonly outcome: ChatOutcome | null;
}

export type Prompt = Pick<ChatWish, 'apiKey' | 'prompt' | 'system' | 'stream'>;

/** Asks several models the same at once; their answers as they come. */
export function useAnswers() {
  const [answers, setAnswers] = useState<readonly Answer[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const abort = useRef<AbortController | null>(null);
  const ask = async (models: readonly string[], prompt: Prompt) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    setError(null);
    setIsRunning(true);
    setAnswers(models.map((model) => ({ model, text: '', outcome: null })));
    const put = (index: number, change: Partial<Answer>) =>
      setAnswers((before) => before.map((answer, at) => (at === index ? { ...answer, ...change } : answer)));
    const askOne = async (model: string, index: number) => {
      const outcome = await sendChat({ ...prompt, model, signal, onText: (text) => put(index, { text }) });
      put(index, { text: outcome.text, outcome });
    };
    try {
      await Promise.all(models.map(askOne));
    } catch (cause) {
      if (!signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setIsRunning(false);
    }
  };
  return { answers, error, isRunning, ask, stop: () => abort.current?.abort() };
}
