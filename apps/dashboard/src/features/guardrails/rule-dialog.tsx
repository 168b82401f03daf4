import type { Policy } from '../../api/guardrails';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import type { FormValues } from '../forms/prepare-form';
import { SpecForm } from '../forms/spec-form';
import { moveRule, type RuleLine, withRule } from './prepare-guardrails';
import { NEW_RULE, ruleBody, ruleFields, ruleValues } from './rule-fields';
import { streamNote } from './rule-parts';
import { type RuleTemplate, ruleFrom } from './rule-templates';
import { TemplatePicker } from './template-picker';
import { useSavePolicy } from './use-save-policy';

interface Props {
  readonly projectId: string;
  readonly policy: Policy;
  /** Absent for a new one. */
  readonly line: RuleLine | undefined;
  /** Fills the form of a new one. */
  readonly template: RuleTemplate | null;
  readonly onTemplate: (template: RuleTemplate) => void;
  readonly onClose: () => void;
}

/** Edits one rule: check, place and action. */
export function RuleDialog({ projectId, policy, line, template, onTemplate, onClose }: Props) {
  const save = useSavePolicy(projectId, policy, onClose);
  const remove = useSavePolicy(projectId, policy, onClose);
  const move = useSavePolicy(projectId, policy);
  const was = line?.name;
  const start = template === null ? NEW_RULE : ruleValues(ruleFrom(template, policy.rules));
  return (
    <Dialog
      kind="drawer"
      title={line === undefined ? 'Add a rule' : line.name}
      description="All rules see a text as it came. Where finds overlap, one that refuses wins, then the rule that stands first."
      onClose={onClose}
    >
      {line === undefined && <TemplatePicker chosen={template} onChoose={onTemplate} />}
      <SpecForm
        key={template?.id}
        specs={ruleFields}
        resource={line === undefined ? start : ruleValues(line.rule)}
        submitLabel={line === undefined ? 'Add rule' : 'Save rule'}
        change={{ isPending: save.isPending, error: save.error }}
        otherError={remove.error ?? move.error}
        below={(values) => <StreamNote values={values} isHolding={line?.isHolding === true} />}
        onSubmit={(body) => save.mutate({ rules: [...withRule(policy.rules, was, ruleBody(body))] })}
      >
        {line !== undefined && was !== undefined && (
          <span className="mr-auto flex flex-wrap gap-2">
            <Move policy={policy} name={was} save={move} />
            <ConfirmButton
              title={`Delete ${was}?`}
              impact="Requests and answers are no longer checked for it, from the next request on. Earlier versions stay."
              confirmLabel="Delete rule"
              change={remove}
              onConfirm={() => remove.mutate({ rules: [...withRule(policy.rules, was, undefined)] })}
            >
              Delete rule
            </ConfirmButton>
          </span>
        )}
        <Button onClick={onClose}>Cancel</Button>
      </SpecForm>
    </Dialog>
  );
}

interface NoteProps {
  readonly values: FormValues;
  /** True if the saved rule delays streams. */
  readonly isHolding: boolean;
}

/** Describes the rule's effect on streams. For a saved expression, the server determines it. */
function StreamNote({ values, isHolding }: NoteProps) {
  const note = streamNote(values);
  if (note === null) return null;
  return (
    <p role="status" className="rounded-md border border-line-strong px-3 py-2 text-xs text-muted">
      {note} {isHolding && values.type === 'regex' && 'As it was saved, this one does.'}
    </p>
  );
}

interface MoveProps {
  readonly policy: Policy;
  readonly name: string;
  readonly save: ReturnType<typeof useSavePolicy>;
}

function Move({ policy, name, save }: MoveProps) {
  const at = policy.rules.findIndex((rule) => rule.name === name);
  const move = (by: 1 | -1) => save.mutate({ rules: [...moveRule(policy.rules, name, by)] });
  return (
    <>
      <ChangeButton disabled={at === 0 || save.isPending} onClick={() => move(-1)}>
        Move up
      </ChangeButton>
      <ChangeButton disabled={at === policy.rules.length - 1 || save.isPending} onClick={() => move(1)}>
        Move down
      </ChangeButton>
    </>
  );
}
