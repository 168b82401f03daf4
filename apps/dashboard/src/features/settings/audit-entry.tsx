import type { AuditEntry } from '../../api/settings';
import { formatInstant } from '../../format/format-time';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { PlaceLink } from '../../ui/place-link';
import { type AuditNames, type Difference, nounOf, prepareDifferences, prepareSentence } from './prepare-audit';

interface Props extends DialogOf<AuditEntry> {
  readonly names: AuditNames;
}

/** What one change has changed. */
export function AuditEntryDrawer({ of: entry, names, onClose }: Props) {
  const { before, after } = entry;
  const differences = prepareDifferences(entry, names);
  return (
    <Dialog
      kind="drawer"
      title={prepareSentence(entry, names)}
      description={formatInstant(entry.created_at, names.timeZone)}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {differences.length === 0 ? (
          <p className="text-muted">No further details were recorded.</p>
        ) : (
          <Differences of={differences} hasBefore={before !== null} hasAfter={after !== null} />
        )}
        {entry.resource_id !== null && (
          <p>
            <PlaceLink
              to="/audit"
              search={{ resource: entry.resource, resource_id: entry.resource_id }}
              className="touch-line text-accent hover:underline"
            >
              All changes of this {nounOf(entry.resource)}
            </PlaceLink>
          </p>
        )}
        {(before !== null || after !== null) && (
          <details>
            <summary className="w-fit cursor-pointer rounded text-xs text-muted hover:text-text">As JSON</summary>
            <div className="mt-2 grid gap-3">
              {before !== null && <CodeBlock label="Before" code={JSON.stringify(before, null, 2)} />}
              {after !== null && <CodeBlock label="After" code={JSON.stringify(after, null, 2)} />}
            </div>
          </details>
        )}
      </div>
    </Dialog>
  );
}

interface DifferencesProps {
  readonly of: readonly Difference[];
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
}

const VALUE = 'py-1.5 pr-3 align-top whitespace-pre-wrap wrap-anywhere tabular-nums';

const Differences = ({ of, hasBefore, hasAfter }: DifferencesProps) => (
  <table className="w-full text-sm">
    <caption className="sr-only">Changed fields</caption>
    <thead>
      <tr className="border-b text-left text-xs text-muted">
        <th scope="col" className="py-1.5 pr-3 font-medium">
          Field
        </th>
        {hasBefore && (
          <th scope="col" className="py-1.5 pr-3 font-medium">
            Before
          </th>
        )}
        {hasAfter && (
          <th scope="col" className="py-1.5 pr-3 font-medium">
            After
          </th>
        )}
      </tr>
    </thead>
    <tbody>
      {of.map(({ label, before, after }) => (
        <tr key={label} className="border-b last:border-0">
          <th
            scope="row"
            className="w-40 py-1.5 pr-3 text-left align-top font-normal text-muted first-letter:uppercase"
          >
            {label}
          </th>
          {hasBefore && <td className={`${VALUE} text-muted`}>{before}</td>}
          {hasAfter && <td className={VALUE}>{after}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
