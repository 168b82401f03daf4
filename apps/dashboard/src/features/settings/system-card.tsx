import { useSystem } from '../../api/settings';
import { formatBytes } from '../../format/format-number';
import { formatLength } from '../../format/format-time';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';

/** Version, stores and settings from the environment. */
export function SystemCard() {
  const system = useSystem();
  const { data } = system;
  return (
    <Card title="This gateway">
      <Failure of={system} />
      {data && (
        <dl className="grid gap-x-10 sm:grid-cols-2">
          {(
            [
              ['Version', data.version],
              ['Environment', data.environment],
              ['Hot store', data.hot_store],
              ['Database', data.database],
              ['Processes', data.workers],
              ['Providers', data.providers.join(', ') || 'none'],
              ['Requests are stored for', `${data.log_retention_days} days`],
              ['Prompts and answers', data.log_bodies ? `kept for ${data.log_bodies_ttl_days} days` : 'not kept'],
              ['Answers are cached for', formatLength(data.cache_ttl_seconds * 1000)],
              ['Maximum cache size', formatBytes(data.cache_max_bytes)],
              ['Timeout to the first event', formatLength(data.request_timeout_ms)],
              ['Timeout of whole answers', formatLength(data.answer_timeout_ms)],
            ] as const
          ).map(([name, value]) => (
            <div key={name} className="flex justify-between gap-4 border-b py-1.5">
              <dt className="text-muted">{name}</dt>
              <dd className="text-right tabular-nums wrap-anywhere">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="mt-3 text-xs text-muted">
        These settings come from the environment and are changed there. The API is described at{' '}
        <a href="/admin/docs" className="text-accent underline">
          /admin/docs
        </a>
        .
      </p>
    </Card>
  );
}
