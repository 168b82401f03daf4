import { useState } from 'react';
import { Button } from '../../ui/button';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { Segmented } from '../../ui/segmented';
import { snippets } from './prepare-snippets';

interface Props {
  readonly secret: string;
  readonly name: string;
  /** For the example. */
  readonly model: string;
  readonly onClose: () => void;
}

const LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'javascript', label: 'JavaScript' },
  { value: 'python', label: 'Python' },
] as const;

/** A key's secret, once, with a request that is ready to be pasted. */
export function SecretDialog({ secret, name, model, onClose }: Props) {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]['value']>('curl');
  const code = snippets({ url: location.origin, apiKey: secret, model });
  return (
    <Dialog
      title={`Key ${name}`}
      description="Copy it now: only its hash is kept, it is never shown again."
      open
      onClose={onClose}
      sticky
    >
      <div className="grid gap-3">
        <CodeBlock label="Secret" code={secret} />
        <Segmented label="Language" options={LANGUAGES} value={language} onChange={setLanguage} />
        <CodeBlock label="First request" code={code[language]} />
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
