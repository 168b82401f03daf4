import { useState } from 'react';
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
  const name = answers === null ? `Turn ${number}` : `Result of ${answers.name}`;
  const [isEdited, setIsEdited] = useState(false);
  if (!isEdited && isShownBelow(turn, playground)) {
    return (
      <li className="grid gap-2 rounded-lg border bg-panel p-3" data-turn={role}>
        <TurnHead {...{ turn, number, name, playground }} />
        <p className="flex items-center gap-2 text-muted">
          The answer below.
          <Button size="small" onClick={() => setIsEdited(true)}>
            Edit
          </Button>
        </p>
      </li>
    );
  }
  return (
    <li className="grid gap-2 rounded-lg border bg-panel p-3" data-turn={role}>
      <TurnHead {...{ turn, number, name, playground }} />
      <textarea
        aria-label={name}
        rows={rowsOf(turn.text)}
        // biome-ignore lint/a11y/noAutofocus: a turn that was just added is what one goes on with
        autoFocus={isLast && number > 1 && turn.text === ''}
        placeholder={answers === null ? 'Enter a message, or paste an image' : 'The result of the tool, often JSON'}
        value={turn.text}
        className="w-full resize-y rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-sm"
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

/** The answer's own card has the text; of several, the turn tells which one goes on. */
const isShownBelow = ({ role, text, toolCalls }: Turn, { state }: Playground): boolean =>
  role === 'assistant' &&
  state.runs.length === 1 &&
  state.runs.every(({ outcome, soFar }) => outcome !== null && soFar.text === text && soFar.toolCalls === toolCalls);

interface HeadProps extends Pick<Props, 'turn' | 'number' | 'playground'> {
  readonly name: string;
}

/** Speaker of a turn, and its actions: on the left, because a new turn appears where Send was. */
function TurnHead({ turn: { id, role, answers }, number, name, playground: { store, draft, send } }: HeadProps) {
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
          aria-label={`Delete ${name.toLowerCase()}`}
          onClick={() => store.change({ turns: removeTurn(draft.turns, id) })}
        >
          Delete
        </Button>
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
