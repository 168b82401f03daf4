import type { JsonObject } from '@llm0/core/chat/json';
import type { DecisionAnswer, DecisionRequest } from '@llm0/core/tasks/decision';
import type { TaskPart } from '../../tasks';
import { jsonBody } from '../../translation/json-body';
import { asObjects } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { decodeUsage } from '../decode-usage';
import { endpointOf } from '../endpoint';

/** Source: https://platform.openai.com/docs/api-reference/decisions */
export function createDecisions(provider: string): TaskPart<DecisionRequest, DecisionAnswer> {
  return {
    encodeRequest({ input, questions, user, extra }, { connection, model }) {
      const body: JsonObject = {
        ...extra,
        model,
        input,
        questions: [...questions],
        ...(user === undefined ? {} : { user }),
      };
      return { ...endpointOf(connection, 'decisions'), body: jsonBody(body, false), dropped: [] };
    },
    decodeResponse(body, { questions }) {
      const answers = asObjects(body.answers);
      if (answers.length !== questions.length) {
        const message = `sent ${answers.length} answers for ${questions.length} questions.`;
        throw upstreamFailure('malformed', provider, message);
      }
      return { answer: { answers }, usage: decodeUsage(body.usage) };
    },
  };
}
