import { z } from '@hono/zod-openapi';
import type { StoredLabelBudget } from '@llm0/drizzle/queries/limits/label-budgets';
import { id, instantShown, labelName, text, usdOrNull, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const amounts = {
  daily_usd: usdOrNull.openapi({ description: 'USD per UTC day; null = none' }),
  weekly_usd: usdOrNull.openapi({ description: 'USD per week from Monday, UTC; null = none' }),
  monthly_usd: usdOrNull.openapi({ description: 'USD per UTC month; null = none' }),
};

/** Without its project, as a configuration file has it. */
export const ownLabelBudgetSchema = z.strictObject({
  label: labelName.openapi({ description: 'Name of the label, as in `X-LLM0-<Name>`' }),
  value: text(256),
  ...amounts,
});
export const newLabelBudgetSchema = ownLabelBudgetSchema.extend({ project_id: id }).openapi('NewLabelBudget');
export const labelBudgetChangesSchema = z.strictObject(amounts).openapi('LabelBudgetChanges');

export const labelBudgetSchema = z
  .object({
    id,
    project_id: id,
    label: z.string(),
    value: z.string(),
    daily_usd: usdShown.nullable(),
    weekly_usd: usdShown.nullable(),
    monthly_usd: usdShown.nullable(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('LabelBudget');

export const showLabelBudget = (budget: StoredLabelBudget) => showFields(labelBudgetSchema, budget);
