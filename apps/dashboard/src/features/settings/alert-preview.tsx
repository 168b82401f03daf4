import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client';
import type { Alert } from '../../api/settings';
import { usePage } from '../../range/use-page';
import { Failure } from '../../ui/error-state';
import { useSettled } from '../../ui/use-settled';
import { type FormValues, readForm } from '../forms/prepare-form';
import { alertFields, describePreview, KINDS } from './prepare-alert';

/** Preview of an alert over the last week. */
export function AlertPreview({ values }: { readonly values: FormValues }) {
  const { timeZone } = usePage();
  const asked = useSettled(JSON.stringify(toQuery(values)));
  const query = JSON.parse(asked) as PreviewQuery | null;
  const preview = useQuery({
    queryKey: ['alerts', 'preview', query],
    enabled: query !== null,
    queryFn: () => read(api['alert-preview'].$get({ query: query ?? { kind: 'spend' } })),
    placeholderData: keepPreviousData,
  });
  if (!KINDS[values.kind as Alert['kind']].isReplayed)
    return <p className="text-xs text-muted">This condition has no preview.</p>;
  if (preview.error !== null) return <Failure of={preview} />;
  const isOld = preview.isPlaceholderData || asked !== JSON.stringify(toQuery(values));
  return (
    <p role="status" className={`min-h-9 rounded-md bg-hover px-3 py-2 ${isOld ? 'text-muted' : ''}`}>
      {query === null
        ? 'Complete the condition to see whether it would have fired over the last week.'
        : preview.data === undefined
          ? 'Checking the last week…'
          : describePreview(query.kind, preview.data, timeZone)}
    </p>
  );
}

interface PreviewQuery {
  readonly kind: Alert['kind'];
  readonly threshold?: string;
  readonly window_minutes?: string;
  readonly project_id?: string;
  readonly objective?: string;
}

/** null for invalid input. */
function toQuery(values: FormValues): PreviewQuery | null {
  const kind = values.kind as Alert['kind'];
  if (!KINDS[kind].isReplayed) return null;
  const wanted = ['threshold', 'window_minutes', 'project_id', 'objective'];
  try {
    const body = readForm(
      alertFields(kind).filter(({ name }) => wanted.includes(name)),
      values,
    );
    const given = Object.entries(body).filter(([, value]) => value !== null);
    return { kind, ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])) };
  } catch {
    return null;
  }
}
