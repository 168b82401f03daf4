import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useExampleModel } from '../../api/settings';
import { Button } from '../../ui/button';
import { Failure } from '../../ui/error-state';
import { CheckField, Form, TextArea, TextField } from '../../ui/form';
import { KeyField } from './key-field';
import { listModels } from './send-chat';
import type { Prompt } from './use-answers';

interface Props {
  readonly isRunning: boolean;
  readonly onSend: (models: readonly string[], prompt: Prompt) => void;
  readonly onStop: () => void;
}

const LIST = 'playground-models';

/** What is asked, and of whom. */
export function RequestForm({ isRunning, onSend, onStop }: Props) {
  const fallback = useExampleModel();
  const [apiKey, setApiKey] = useState('');
  const [first, setFirst] = useState('');
  const [second, setSecond] = useState('');
  const [system, setSystem] = useState('');
  const [prompt, setPrompt] = useState('Explain in two sentences what an LLM gateway is for.');
  const [stream, setStream] = useState(true);
  const models = useQuery({
    queryKey: ['playground-models', apiKey],
    enabled: apiKey !== '',
    retry: false,
    queryFn: () => listModels(apiKey),
  });
  const send = () =>
    onSend([first || fallback, ...(second === '' ? [] : [second])], { apiKey, prompt, system, stream });
  return (
    <Form onSubmit={send}>
      <KeyField value={apiKey} onValue={setApiKey} />
      <Failure of={{ error: models.error }} />
      <datalist id={LIST}>
        {models.data?.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <TextField label="Model" list={LIST} placeholder={fallback} value={first} onValue={setFirst} />
      <TextField label="Compare with" list={LIST} placeholder="nothing" value={second} onValue={setSecond} />
      <TextArea label="System" value={system} rows={2} onValue={setSystem} />
      <TextArea label="Prompt" value={prompt} rows={6} onValue={setPrompt} />
      <CheckField label="Stream" checked={stream} onValue={setStream} />
      <div className="flex justify-end gap-2">
        {isRunning && <Button onClick={onStop}>Stop</Button>}
        <Button type="submit" kind="primary" disabled={apiKey === '' || prompt.trim() === '' || isRunning}>
          Send
        </Button>
      </div>
    </Form>
  );
}
