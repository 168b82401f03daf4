import { NOTHING_FOUND, type TextCheck } from '../check';
import { checkThread } from '../thread/check-worker';
import { compileSchema, type JsonSchema } from './compile-schema';
import { isSteadySchema } from './schema-cost';

/** Longer ones are judged in the thread. */
const MOST_IN_LOOP = 32 * 1024;
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

/** Finds invalid JSON and violations of the schema. Throws for an invalid schema; fetches nothing. */
export function checkJsonSchema({ schema }: { readonly schema: JsonSchema }, thread = checkThread): TextCheck {
  const judgeHere = compileSchema(schema);
  const isSteady = isSteadySchema(schema);
  const written = JSON.stringify(schema);
  return {
    async judge({ text }, signal) {
      if (text.length > MAX_TEXT_LENGTH) throw new Error('the text is too long for a schema');
      const isShort = isSteady && text.length <= MOST_IN_LOOP;
      const reason = isShort
        ? judgeHere(text)
        : (await thread.ask({ type: 'schema', schema: written, text }, signal)).reason;
      return reason === undefined ? NOTHING_FOUND : { count: 1, reason };
    },
  };
}
