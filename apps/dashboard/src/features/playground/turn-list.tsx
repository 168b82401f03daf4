import { Fragment, useState } from 'react';
import { Button } from '../../ui/button';
import { AnswerCard } from './answers/answer-card';
import { placeOfAnswers, type Turn } from './conversation';
import { TurnCard, TurnHead } from './turn-card';
import type { Playground } from './use-playground';

interface Props {
  readonly playground: Playground;
}

/** The conversation, with the last answers in their place. */
export function TurnList({ playground }: Props) {
  const { draft, state } = playground;
  const [editedId, setEditedId] = useState<string | null>(null);
  const at = placeOfAnswers(draft.turns, state.asked);
  const next = draft.turns[at];
  const answered = next !== undefined && next.id !== editedId && isAnswer(next, playground) ? next : null;
  const answers = state.runs.length > 0 && (
    <Answers key="answers" {...{ playground, answered }} number={at + 1} onEdit={setEditedId} />
  );
  return (
    <ol aria-label="Turns" className="grid gap-3">
      {draft.turns.map((turn, index) => (
        <Fragment key={turn.id}>
          {index === at && answers}
          {turn !== answered && (
            <TurnCard number={index + 1} isLast={index === draft.turns.length - 1} {...{ turn, playground }} />
          )}
        </Fragment>
      ))}
      {at === draft.turns.length && answers}
    </ol>
  );
}

/** The only answer, as it came; of several, the turn tells which one goes on. */
const isAnswer = ({ role, text, toolCalls }: Turn, { state: { runs } }: Playground): boolean =>
  role === 'assistant' &&
  runs.length === 1 &&
  runs.every(({ outcome, soFar }) => outcome !== null && soFar.text === text && soFar.toolCalls === toolCalls);

const COLUMNS = ['', '', 'xl:grid-cols-2', 'xl:grid-cols-3', 'xl:grid-cols-2 2xl:grid-cols-4'] as const;

interface AnswersProps extends Props {
  /** The turn that the answer is; null while there is none. */
  readonly answered: Turn | null;
  readonly number: number;
  readonly onEdit: (id: string) => void;
}

function Answers({ playground, answered, number, onEdit }: AnswersProps) {
  const { store, state } = playground;
  const isOneOfSeveral = state.runs.length > 1;
  return (
    <li
      className={isOneOfSeveral ? `grid gap-3 ${COLUMNS[state.runs.length] ?? ''}` : 'rounded-lg border bg-panel'}
      data-turn="assistant"
    >
      {answered !== null && (
        <div className="px-3 pt-3">
          <TurnHead turn={answered} {...{ number, playground }}>
            <Button size="small" kind="ghost" onClick={() => onEdit(answered.id)}>
              Edit
            </Button>
          </TurnHead>
        </div>
      )}
      {state.runs.map((run) => (
        <AnswerCard key={run.id} {...{ run, store, isOneOfSeveral }} />
      ))}
    </li>
  );
}
