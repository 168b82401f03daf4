import type { Draft } from './draft';
import type { CallableModel } from './send-chat';

type Wanted = Pick<Draft, 'models' | 'turns' | 'settings'>;

/** Features of a draft, by the model capability they need. */
const ASKS: readonly (readonly [capability: string, what: string, isAsked: (draft: Wanted) => boolean])[] = [
  ['vision', 'images', ({ turns }) => turns.some(({ pictures }) => pictures.length > 0)],
  ['function_calling', 'tools', ({ settings }) => settings.tools.trim() !== ''],
  ['response_schema', 'a JSON schema', ({ settings }) => settings.format === 'json_schema'],
  ['reasoning', 'a reasoning effort', ({ settings }) => settings.reasoning_effort !== ''],
];

/** Warns before sending about features that the chosen models lack. Unknown models cause no warning. */
export function prepareSupport(draft: Wanted, known: readonly CallableModel[], example: string): readonly string[] {
  const chosen = new Set(draft.models.map((model) => model.trim() || example));
  return [...chosen].flatMap((name) => {
    const model = known.find(({ id }) => id === name);
    if (model === undefined) return known.length === 0 ? [] : [`${name} is not available to this key.`];
    const { capabilities = [], max_output_tokens: most } = model;
    const lacks = ASKS.filter(([capability, , isAsked]) => isAsked(draft) && !capabilities.includes(capability));
    const notes =
      capabilities.length === 0 || lacks.length === 0
        ? []
        : [
            lackNote(
              name,
              lacks.map(([, what]) => what),
            ),
          ];
    const asked = Number(draft.settings.max_tokens);
    return most !== undefined && asked > most ? [...notes, `${name} allows at most ${most} tokens.`] : notes;
  });
}

const lackNote = (name: string, lacks: readonly string[]): string =>
  `${name} is not known to support ${lacks.join(' and ')}.`;
