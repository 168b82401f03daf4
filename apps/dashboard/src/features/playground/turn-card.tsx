import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button';
import { Select } from '../../ui/form';
import { changeTurn, insertAfter, type Role, removeTurn, type Turn, turnsUpTo } from './conversation';
import { Pictures, pastedFiles, readPictures } from './pictures';
import type { PlaygroundStore } from './playground-store';
import type { Playground } from './use-playground';

const ROLES = { user: 'User', assistant: 'Assistant' } as const;

interface Props {
  readonly turn: Turn;
  readonly number: number;
  readonly isLast: boolean;
  readonly playground: Playground;
}

/** One turn, to be written and rewritten. */
export function TurnCard({ turn, number, isLast, playground }: Props) {
  const { store, draft } = playground;
  const { id, role, answers } = turn;
  const change = (wish: Partial<Turn>) => store.change({ turns: changeTurn(draft.turns, id, wish) });
  const { problem, add } = usePictureFiles(store, id);
  const name = nameOf(turn, number);
  return (
    <li className="grid gap-2 rounded-lg border bg-panel p-3" data-turn={role}>
      <TurnHead {...{ turn, number, playground }} />
      <textarea
        aria-label={name}
        rows={rowsOf(turn.text)}
        // biome-ignore lint/a11y/noAutofocus: a turn that was just added is what one goes on with
        autoFocus={isLast && number > 1 && turn.text === ''}
        placeholder={answers === null ? 'Enter a message, or paste an image' : 'The result of the tool, often JSON'}
        value={turn.text}
        className="max-h-80 min-h-14 w-full resize-y field-sizing-content rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-sm"
        onChange={(event) => change({ text: event.target.value })}
        onPaste={(event) => {
          const files = role === 'user' ? pastedFiles(event) : [];
          if (files.length > 0) {
            event.preventDefault();
            void add(files);
          }
        }}
      />
      {turn.toolCalls.map((call) => (
        <p key={call.id} className="font-mono text-xs wrap-anywhere">
          {call.name}({call.arguments})
        </p>
      ))}
      {role === 'user' && (
        <Pictures
          pictures={turn.pictures}
          problem={problem}
          onPictures={(pictures) => change({ pictures })}
          onFiles={(files) => void add(files)}
        />
      )}
    </li>
  );
}

const nameOf = ({ answers }: Turn, number: number) =>
  answers === null ? `Turn ${number}` : `Result of ${answers.name}`;

interface HeadProps extends Pick<Props, 'turn' | 'number' | 'playground'> {
  /** Further buttons. */
  readonly children?: ReactNode;
}

/** Speaker of a turn, and its actions: on the left, because a new turn appears where Send was. */
export function TurnHead({ turn, number, playground: { store, draft, send }, children }: HeadProps) {
  const { id, role, answers } = turn;
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {answers === null ? (
        <Select
          aria-label={`Role of turn ${number}`}
          className="w-28"
          options={ROLES}
          value={role}
          onValue={(value) => store.change({ turns: changeTurn(draft.turns, id, { role: value as Role }) })}
        />
      ) : (
        <span className="min-w-0 text-xs font-medium wrap-anywhere">
          Result of {answers.name} <span className="font-mono text-muted">{answers.arguments}</span>
        </span>
      )}
      <span className="flex flex-wrap">
        <Button size="small" kind="ghost" onClick={() => store.change({ turns: insertAfter(draft.turns, id) })}>
          Insert after
        </Button>
        <Button
          size="small"
          kind="ghost"
          disabled={number === 1 && role === 'assistant'}
          onClick={() => send(turnsUpTo(draft.turns, id), role === 'assistant')}
        >
          {role === 'assistant' ? 'Regenerate' : 'Send from here'}
        </Button>
        <Button
          size="small"
          kind="ghost"
          aria-label={`Delete ${nameOf(turn, number).toLowerCase()}`}
          onClick={() => store.change({ turns: removeTurn(draft.turns, id) })}
        >
          Delete
        </Button>
        {children}
      </span>
    </div>
  );
}

/** Files become pictures of a turn. */
function usePictureFiles(store: PlaygroundStore, id: string) {
  const [problem, setProblem] = useState<string | null>(null);
  const add = async (files: readonly File[]) => {
    setProblem(null);
    try {
      const fresh = await readPictures(files);
      // The latest turn, because reading takes time.
      const now = store.get().draft.turns.find((one) => one.id === id);
      if (now !== undefined) {
        const turns = changeTurn(store.get().draft.turns, id, { pictures: [...now.pictures, ...fresh] });
        store.change({ turns });
      }
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return { problem, add };
}

const MOST_ROWS = 14;
const COLUMNS = 80;

const rowsOf = (text: string): number => {
  const rows = text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / COLUMNS), 0);
  return Math.min(MOST_ROWS, Math.max(2, rows));
};
