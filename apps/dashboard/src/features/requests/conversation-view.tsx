import { type ReactNode, useState } from 'react';
import { countOf } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Markdown } from '../../ui/markdown/markdown';
import type { Conversation, Part, Turn } from './prepare-conversation';

const ROLES: Readonly<Record<string, string>> = {
  ...{ system: 'System', developer: 'Developer', user: 'User', assistant: 'Assistant', tool: 'Tool', error: 'Error' },
};
const TINTS: Readonly<Record<string, string>> = {
  ...{ assistant: 'border-accent/40 bg-accent-soft/40', error: 'border-bad/40 bg-bad-soft' },
};

/** More would put everything else out of reach; the newest say most. */
const MOST_TURNS = 8;

/** Messages, calls of tools and images, one after the other. */
export function ConversationView({ conversation: { turns, tools } }: { readonly conversation: Conversation }) {
  const [isWhole, setIsWhole] = useState(false);
  const first = isWhole ? 0 : Math.max(0, turns.length - MOST_TURNS);
  return (
    <div className="grid gap-2">
      {tools.length > 0 && (
        <details className="rounded-md border px-3 py-2">
          <summary className="cursor-pointer text-xs font-medium text-muted">
            {tools.length === 1 ? '1 tool' : `${tools.length} tools`}: {tools.map(({ name }) => name).join(', ')}
          </summary>
          <ul className="mt-2 grid gap-2">
            {tools.map(({ name, description, text }) => (
              <li key={name}>
                <span className="font-mono text-xs font-semibold">{name}</span>
                {description !== null && <span className="text-xs text-muted"> {description}</span>}
                <Json text={text} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {first > 0 && (
        <Button size="small" className="justify-self-start" onClick={() => setIsWhole(true)}>
          Show {countOf(first, 'earlier message')}
        </Button>
      )}
      <ol className="grid gap-2">
        {turns.slice(first).map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns have nothing else, and do not change
          <li key={first + index}>
            <TurnView turn={turn} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function TurnView({ turn: { role, parts } }: { readonly turn: Turn }) {
  return (
    <article className={`rounded-md border px-3 py-2 ${TINTS[role] ?? ''}`}>
      <h4 className="mb-1 text-xs font-semibold text-muted">{ROLES[role] ?? role}</h4>
      <div className="grid gap-2">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <div key={index} className="min-w-0">
            {drawPart(part)}
          </div>
        ))}
      </div>
    </article>
  );
}

function drawPart(part: Part): ReactNode {
  if (part.kind === 'text' || part.kind === 'refusal') return <Folded text={part.text} draw={drawText} />;
  if ('note' in part) return drawMedia(part);
  const titles = {
    thinking: 'Thinking',
    call: part.kind === 'call' ? `Call to ${part.name}` : '',
    result: 'Result',
    other: part.kind === 'other' ? part.name : '',
  };
  const id = part.kind === 'call' || part.kind === 'result' ? part.id : null;
  return (
    <div>
      <p className="text-xs font-medium text-muted">
        {titles[part.kind]} {id !== null && <span className="font-mono font-normal">{id}</span>}
      </p>
      {part.kind === 'thinking' ? (
        <Folded text={part.text} draw={drawText} />
      ) : (
        <Folded text={part.text} draw={drawJson} />
      )}
    </div>
  );
}

function drawMedia({ kind, url, note }: Extract<Part, { note: string }>): ReactNode {
  if (url === null) {
    return (
      <p className="text-xs text-muted wrap-anywhere">
        {kind === 'image' ? 'Image' : 'Sound'}, not loaded: {note}
      </p>
    );
  }
  if (kind === 'image') return <img src={url} alt="In the message" className="max-h-72 max-w-full rounded border" />;
  // biome-ignore lint/a11y/useMediaCaption: nobody has written down what it says
  return <audio src={url} controls aria-label="In the message" className="w-full" />;
}

const drawText = (text: string) => <Markdown text={text} />;
const drawJson = (text: string) => <Json text={text} />;

const Json = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <pre tabIndex={0} className="mt-1 overflow-x-auto rounded border bg-bg px-2 py-1.5 font-mono text-xs">
    {text}
  </pre>
);

const LONG_CHARACTERS = 1500;
const LONG_LINES = 24;

interface FoldedProps {
  readonly text: string;
  readonly draw: (text: string) => ReactNode;
}

/** Folds long texts and renders only the visible part. */
function Folded({ text, draw }: FoldedProps) {
  const [isWhole, setIsWhole] = useState(false);
  const lines = text.split('\n', LONG_LINES + 1);
  const isLong = text.length > LONG_CHARACTERS || lines.length > LONG_LINES;
  if (!isLong) return draw(text);
  const start = lines.slice(0, LONG_LINES).join('\n').slice(0, LONG_CHARACTERS);
  return (
    <>
      {draw(isWhole ? text : `${start}…`)}
      <Button size="small" className="mt-1.5" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
        {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
      </Button>
    </>
  );
}
