import { CodeBlock } from '../../ui/copy-button';
import { truncatedText } from './prepare-conversation';

/** Stored JSON, possibly truncated. */
export function Raw({ label, body }: { readonly label: string; readonly body: unknown }) {
  const cut = truncatedText(body);
  if (body === null || body === undefined) return <p className="text-xs text-muted">{label}: nothing was kept.</p>;
  return (
    <>
      {cut !== null && (
        <p className="text-xs text-warn">
          {label}: only the first {cut.text.length.toLocaleString('en')} of {cut.characters.toLocaleString('en')}{' '}
          characters were stored.
        </p>
      )}
      <CodeBlock label={label} code={cut?.text ?? JSON.stringify(body, null, 2)} />
    </>
  );
}
