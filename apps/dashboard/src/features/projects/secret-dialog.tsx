import { useState } from 'react';
import type { KeyWithSecret } from '../../api/projects';
import { useExampleModel, useGatewayUrl } from '../../api/settings';
import { CodeBlock } from '../../ui/copy-button';
import type { DialogOf } from '../../ui/dialog';
import { Segmented } from '../../ui/segmented';
import { ShownOnceDialog } from '../../ui/shown-once-dialog';
import { snippets } from './prepare-snippets';

const LANGUAGES = { curl: 'curl', javascript: 'JavaScript', python: 'Python' } as const;

/** A key's secret, once, with a request that is ready to be pasted. */
export function SecretDialog({ of: apiKey, onClose }: DialogOf<KeyWithSecret>) {
  const [language, setLanguage] = useState<keyof typeof LANGUAGES>('curl');
  const url = useGatewayUrl();
  const code = snippets({ url, apiKey: apiKey.key, model: useExampleModel() });
  return (
    <ShownOnceDialog title={`Key ${apiKey.name}`} label="Secret" secret={apiKey.key} onClose={onClose}>
      {apiKey.state === 'requested' && (
        <p>It works once an admin of the team has approved it. Keep the secret until then.</p>
      )}
      <Segmented label="Language" options={LANGUAGES} value={language} onChange={setLanguage} />
      <CodeBlock label="First request" code={code[language]} />
    </ShownOnceDialog>
  );
}
