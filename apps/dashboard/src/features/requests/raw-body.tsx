import { useSystem } from '../../api/settings';
import { countOf } from '../../format/format-number';
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

/** Why there is nothing to show. `what`: its name in the plural. */
export function NotKept({ what }: { readonly what: string }) {
  const system = useSystem().data;
  return (
    <p className="text-xs text-muted">
      {what} were not stored, or are deleted.{' '}
      {system?.log_bodies ? (
        `The gateway stores those of new requests for ${countOf(system.log_bodies_ttl_days, 'day')}.`
      ) : (
        <>
          <code className="font-mono">LOG_BODIES=true</code> stores later ones for a few days.
        </>
      )}
    </p>
  );
}
