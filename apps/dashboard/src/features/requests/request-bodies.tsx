import { useMemo, useState } from 'react';
import type { Log, useLogBodies } from '../../api/logs';
import { Segmented } from '../../ui/segmented';
import { ConversationView } from './conversation-view';
import { DifferencesView } from './differences-view';
import { prepareConversation } from './prepare-conversation';
import { NotKept, Raw } from './raw-body';

type View = 'conversation' | 'raw' | 'sent';
const NAMES = { conversation: 'Conversation', raw: 'Raw JSON', sent: 'Sent to provider' } as const;

interface Props {
  readonly log: Log;
  readonly mayRead: boolean;
  readonly bodies: ReturnType<typeof useLogBodies>;
}

/** Prompt and answer, if stored and permitted. */
export function RequestBodies({ log, mayRead, bodies }: Props) {
  const { request_body: request, response_body: response, upstream_request_body: sent } = bodies.data ?? {};
  const conversation = useMemo(() => prepareConversation(request, response), [request, response]);
  const [chosen, setChosen] = useState<View | null>(null);
  if (!mayRead) return <p className="text-xs text-muted">Your token may not read prompts and answers.</p>;
  if (bodies.data === undefined || bodies.data === null) {
    return bodies.error || bodies.data === null ? <NotKept what="The prompt and answer" /> : null;
  }
  const { conversation: _none, ...others } = NAMES;
  const options: Partial<Record<View, string>> = conversation === null ? others : NAMES;
  const view = chosen ?? (conversation === null ? 'raw' : 'conversation');
  return (
    <section className="grid gap-3">
      <div>
        <Segmented
          label="Show prompt and answer as"
          options={options as typeof NAMES}
          value={view}
          onChange={setChosen}
        />
      </div>
      {view === 'conversation' && conversation !== null && <ConversationView conversation={conversation} />}
      {view === 'raw' && (
        <>
          <Raw label="Request" body={request} />
          <Raw label="Answer" body={response} />
        </>
      )}
      {view === 'sent' && <DifferencesView {...{ request, sent, provider: log.final_provider ?? log.provider }} />}
    </section>
  );
}
