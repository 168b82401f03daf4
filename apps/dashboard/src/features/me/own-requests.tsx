import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../api/client';
import { type Key, useProjectNames } from '../../api/projects';
import { oneOrMany, toLogQuery } from '../../range/request-filter';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { TableCard } from '../../ui/table/table-card';
import { requestColumns } from '../requests/request-columns';

const SHOWN = 10;
/** Values that one filter takes. */
const MOST_KEYS = 50;
const FIELDS: ReadonlySet<string> = new Set([
  'created_at',
  'status',
  'model',
  'api_key_id',
  'tokens_total',
  'cost_usd',
]);

/** The newest requests of a person's keys, with the way to all of them. */
export function OwnRequests({ keys }: { readonly keys: readonly Key[] }) {
  const filter = { api_key_id: oneOrMany(keys.slice(0, MOST_KEYS).map(({ id }) => id)) };
  const requests = useQuery({
    queryKey: ['logs', 'own', filter.api_key_id],
    queryFn: () => read(api.logs.$get({ query: { ...toLogQuery(filter), limit: String(SHOWN) } })),
  });
  const { timeZone } = usePage();
  const project = useProjectNames();
  const key = (id: string) => keys.find((one) => one.id === id)?.name ?? id;
  return (
    <TableCard
      title="Newest requests"
      actions={
        <Link {...requestsLink(filter)} className="rounded px-1 text-xs text-muted hover:text-text">
          All of your requests
        </Link>
      }
      caption="The newest requests of your keys"
      query={requests}
      columns={requestColumns(timeZone, { project, key }).filter(({ field }) => FIELDS.has(field))}
      rows={requests.data?.data}
      rowKey={(row) => row.request_id}
      linkOf={(row) => requestsLink({ ...filter, open: row.request_id })}
      emptyTitle="No requests yet"
      emptyHint="Requests of all your keys appear here."
    />
  );
}
