import { ChangeButton } from '../forms/change-button';
import { RULE_TEMPLATES, type RuleTemplate } from './rule-templates';

interface Props {
  readonly chosen: RuleTemplate | null;
  readonly onChoose: (template: RuleTemplate) => void;
}

const CHOSEN = 'aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent';

/** Rules to start from; choosing one fills the form below. */
export const TemplatePicker = ({ chosen, onChoose }: Props) => (
  <fieldset className="mb-4 min-w-0 border-b pb-4">
    <legend className="mb-1.5 text-xs font-medium text-muted">Start from a template</legend>
    <div className="flex flex-wrap gap-1.5">
      {RULE_TEMPLATES.map((template) => (
        <ChangeButton
          key={template.id}
          size="small"
          aria-pressed={template === chosen}
          className={CHOSEN}
          onClick={() => onChoose(template)}
        >
          {template.title}
        </ChangeButton>
      ))}
    </div>
    <p role="status" className="mt-2 text-xs text-muted">
      {chosen === null ? 'Or fill in the form yourself.' : `${chosen.text} Edit it before you save.`}
    </p>
  </fieldset>
);

/** The templates of a policy without rules. */
export const TemplateList = ({ onChoose }: Pick<Props, 'onChoose'>) => (
  <>
    <p>Start from a template, watch it in shadow mode, then enforce it.</p>
    <ul className="mt-3 grid gap-2 text-left sm:grid-cols-2">
      {RULE_TEMPLATES.map((template) => (
        <li key={template.id} className="grid min-w-0">
          <ChangeButton
            className="h-auto! flex-col items-start! justify-start! gap-0.5! px-3! py-2 text-left font-normal! whitespace-normal!"
            onClick={() => onChoose(template)}
          >
            <span className="font-medium text-text">{template.title}</span>
            <span className="text-xs text-muted">{template.text}</span>
          </ChangeButton>
        </li>
      ))}
    </ul>
  </>
);
