import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { TextArea } from '../../ui/form';
import { Chevron } from '../../ui/icons';
import { PageFrame } from '../shell/page-frame';
import { CodeDialog } from './code-dialog';
import { ModelsCard } from './models-card';
import { isRunning } from './playground-store';
import { SenderCard } from './sender-card';
import { SettingsCard } from './settings-card';
import { TurnList } from './turn-list';
import { type Playground, usePlayground } from './use-playground';
import { useRerun } from './use-rerun';

/** A conversation with one model or with up to four side by side, as an application would have it: through every limit and cache. */
export function PlaygroundPage() {
  const playground = usePlayground();
  const { store, state, send } = playground;
  const rerun = useRerun(store);
  const [isCode, setIsCode] = useState(false);
  usePageKeys(() => send(), store.stopAll);
  return (
    <PageFrame
      title="Playground"
      intro="Sends real requests. They are counted, charged and cached like any other."
      actions={
        <>
          <Button onClick={() => setIsCode(true)}>View code</Button>
          <Button onClick={store.clear}>New conversation</Button>
        </>
      }
    >
      <div className="grid gap-4 lg:grid-cols-[21rem_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
        <Asked playground={playground} />
        <div className="grid min-w-0 content-start gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          <Failure of={rerun} />
          {rerun.isLoading && <p className="text-muted">Loading the request…</p>}
          {state.missing !== null && <RerunNote missing={state.missing} />}
          <Conversation playground={playground} />
        </div>
        <div className="min-w-0">
          <SettingsCard playground={playground} />
        </div>
      </div>
      {isCode && <CodeDialog playground={playground} onClose={() => setIsCode(false)} />}
    </PageFrame>
  );
}

/** Key and models; where they are above the conversation, behind a button, so that the message comes first. */
function Asked({ playground }: { readonly playground: Playground }) {
  const [isOpen, setIsOpen] = useState(false);
  const { draft, example } = playground;
  const models = draft.models.map((model) => model.trim() || example).join(', ');
  return (
    <div className="grid min-w-0 content-start gap-4">
      <Button className="justify-start! lg:hidden" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Model and key <span className="min-w-0 truncate font-normal text-muted">{models}</span>
        <Chevron className={`ml-auto shrink-0 ${isOpen ? 'rotate-180' : ''}`} />
      </Button>
      <div className={`content-start gap-4 lg:grid ${isOpen ? 'grid' : 'hidden'}`}>
        <SenderCard playground={playground} />
        <ModelsCard playground={playground} />
      </div>
    </div>
  );
}

/** Handles ⌘/Ctrl+Enter and Escape anywhere on the page except in a dialog. */
function usePageKeys(onSend: () => void, onStop: () => void): void {
  const now = useRef({ onSend, onStop });
  now.current = { onSend, onStop };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || (event.target instanceof Element && event.target.closest('[role=dialog]'))) return;
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        now.current.onSend();
      } else if (event.key === 'Escape') now.current.onStop();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function RerunNote({ missing }: { readonly missing: readonly string[] }) {
  const isWhole = missing.length === 0;
  return (
    <div role="status" className={`rounded-md px-3 py-2 ${isWhole ? 'bg-accent-soft' : 'bg-warn-soft text-warn'}`}>
      {isWhole
        ? 'The logged request was loaded exactly as it was sent. Send it to run it again.'
        : 'A logged request was loaded.'}
      {missing.map((note) => (
        <p key={note} className="wrap-anywhere">
          {note}
        </p>
      ))}
    </div>
  );
}

function Conversation({ playground }: { readonly playground: Playground }) {
  const { draft, state, store, sender, send, prepared, unanswered } = playground;
  const isGoing = state.runs.some(isRunning);
  const hint = whyNot(playground);
  return (
    <Card title="Conversation">
      <div className="grid gap-3">
        <TextArea label="System prompt" value={draft.system} rows={2} onValue={(system) => store.change({ system })} />
        <TurnList playground={playground} />
        {state.kept !== 'all' && <p className="text-xs text-warn">{LOST[state.kept]}</p>}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {hint !== null && <span className="min-w-0 text-xs text-muted wrap-anywhere">{hint}</span>}
          {isGoing && (
            <Button onClick={store.stopAll}>
              Stop <kbd className="text-2xs text-muted">Esc</kbd>
            </Button>
          )}
          <Button
            kind="primary"
            disabled={sender === null || prepared.problems.length > 0 || unanswered.length > 0 || isGoing}
            onClick={() => send()}
          >
            Send <kbd className="text-2xs opacity-80">⌘/Ctrl ⏎</kbd>
          </Button>
        </div>
      </div>
    </Card>
  );
}

const LOST = {
  'without pictures': "A reload loses the images: this tab's storage is full.",
  nothing: "A reload loses this conversation: this tab's storage is full.",
} as const;

/** Reason why sending is impossible. */
function whyNot({ sender, prepared, unanswered }: Playground): string | null {
  if (sender === null) return 'Choose a key first.';
  const [problem] = prepared.problems;
  if (problem !== undefined)
    return problem.field === 'turns' || problem.field === 'models'
      ? problem.message
      : `Check the settings: ${problem.message}`;
  return unanswered.length === 0 ? null : `Enter the result of ${unanswered.join(', ')}.`;
}
