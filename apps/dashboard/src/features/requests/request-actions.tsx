import { type Log, useLogBodies } from '../../api/logs';
import { useSession } from '../../api/session';
import { useGatewayUrl } from '../../api/settings';
import { Button } from '../../ui/button';
import { Copy, Playground } from '../../ui/icons';
import { PlaceLink } from '../../ui/place-link';
import { useToast } from '../../ui/toast';
import { prepareCurl } from './prepare-curl';

/** APIs that the playground supports. */
const PLAYED = new Set(['openai-chat', 'anthropic-messages', 'openai-responses']);

/** Actions on a logged request. */
export function RequestActions({ log }: { readonly log: Log }) {
  const mayRead = useSession().data?.can_read_bodies === true;
  const bodies = useLogBodies(log.request_id, mayRead);
  const url = useGatewayUrl();
  const toast = useToast();
  const curl = prepareCurl(log, bodies.data?.request_body, url);
  const copy = async () => {
    if (curl === null || navigator.clipboard === undefined) return;
    await navigator.clipboard.writeText(curl);
    toast('Copied. Set LLM0_API_KEY before you run it.');
  };
  return (
    <>
      <Button
        size="small"
        disabled={curl === null}
        title={curl === null ? 'Available only when the whole prompt was stored' : undefined}
        onClick={() => void copy()}
      >
        <Copy /> Copy as curl
      </Button>
      {PLAYED.has(log.dialect) && bodies.data !== undefined && (
        <PlaceLink
          to="/playground"
          search={{ rerun: log.request_id }}
          className="inline-flex h-7 max-md:h-10 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2 text-xs font-medium hover:bg-hover"
        >
          <Playground /> Open in playground
        </PlaceLink>
      )}
    </>
  );
}
