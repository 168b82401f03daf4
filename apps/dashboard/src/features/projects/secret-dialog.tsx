import { useState } from 'react';
import type { KeyWithSecret } from '../../api/projects';
import { useExampleModel, useGatewayUrl } from '../../api/settings';
import { Button } from '../../ui/button';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Segmented } from '../../ui/segmented';
import { snippets } from './prepare-snippets';

const LANGUAGES = { curl: 'curl', javascript: 'JavaScript', python: 'Python' } as const;

/** A key's secret, once, with a request that is ready to be pasted. */
export function SecretDialog({ of: apiKey, onClose }: DialogOf<KeyWithSecret>) {
  const [language, setLanguage] = useState<keyof typeof LANGUAGES>('curl');
  const url = useGatewayUrl();
  const code = snippets({ url, apiKey: apiKey.key, model: useExampleModel() });
  return (
    <Dialog
      title={`Key ${apiKey.name}`}
      description="Copy it now: only its hash is kept, it is never shown again."
      onClose={onClose}
      sticky
    >
      <div className="grid gap-3">
        <CodeBlock label="Secret" code={apiKey.key} />
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
