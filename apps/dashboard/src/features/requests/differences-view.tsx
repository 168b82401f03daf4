import { useMemo } from 'react';
import { Badge } from '../../ui/badge';
import { truncatedText } from './prepare-conversation';
import { prepareDifferences } from './prepare-difference';
import { Raw } from './raw-body';

interface Props {
  readonly request: unknown;
  readonly sent: unknown;
  readonly provider: string | null;
}

const TONES = { added: 'good', removed: 'warn', changed: 'accent' } as const;

/** Shows the fields that the gateway changed, then the whole provider request. */
export function DifferencesView({ request, sent, provider }: Props) {
  const isCut = truncatedText(request) !== null || truncatedText(sent) !== null;
  const differences = useMemo(() => (isCut ? [] : prepareDifferences(request, sent)), [isCut, request, sent]);
  if (sent === null || sent === undefined) {
    return (
      <p className="text-xs text-muted">
        Nothing to compare: the request was answered from a cache, refused, joined to an identical call, or passed
        through unchanged.
      </p>
    );
  }
  return (
    <>
      {isCut ? (
        <p className="text-xs text-muted">Too long to compare.</p>
      ) : differences.length === 0 ? (
        <p className="text-xs text-muted">{provider ?? 'The provider'} received exactly what the client sent.</p>
      ) : (
        <div className="overflow-x-auto rounded-md border">
          <table className="w-full table-fixed text-xs">
            <caption className="sr-only">
              Differences between what the client sent and what the provider received
            </caption>
            <thead>
              <tr className="border-b text-left text-muted">
                <th scope="col" className="w-[28%] px-2 py-1.5 font-medium">
                  Field
                </th>
                <th scope="col" className="w-20 px-2 py-1.5 font-medium">
                  Change
                </th>
                <th scope="col" className="px-2 py-1.5 font-medium">
                  Client sent
                </th>
                <th scope="col" className="px-2 py-1.5 font-medium">
                  {provider ?? 'Provider'} received
                </th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ path, kind, before, after }) => (
                <tr key={path} className="border-b align-top last:border-0">
                  <td className="px-2 py-1.5 font-mono wrap-anywhere">{path}</td>
                  <td className="px-2 py-1.5">
                    <Badge tone={TONES[kind]}>{kind}</Badge>
                  </td>
                  <Value json={before} />
                  <Value json={after} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Raw label={`As ${provider ?? 'the provider'} received it`} body={sent} />
    </>
  );
}

const SHOWN = 400;

const Value = ({ json }: { readonly json: string | null }) => (
  <td className="px-2 py-1.5 font-mono wrap-anywhere">
    {json === null ? <span className="text-muted">–</span> : json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json}
  </td>
);
