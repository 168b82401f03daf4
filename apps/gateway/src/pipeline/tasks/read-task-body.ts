import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { TaskBody } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { readRequestBody } from '../request/read-request';

type Needs = Pick<Services, 'config' | 'bodyDeadlines'>;

/** Reads a JSON body; 415 for anything else. */
export async function readTaskBody(services: Needs, httpRequest: Request, underWay: UnderWay): Promise<TaskBody> {
  const type = mediaType(httpRequest);
  if (type !== '' && type !== 'application/json' && !type.startsWith('text/plain')) {
    throw wrongType(type, 'application/json');
  }
  return { fields: (await readRequestBody(services, httpRequest, underWay)).body, files: [] };
}

const mediaType = ({ headers }: Request) => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';

function wrongType(type: string, wanted: string): GatewayError {
  const message = `The body must be ${wanted}, but its Content-Type is "${type.slice(0, 80)}".`;
  return new GatewayError('invalid_request', message, { status: 415, param: 'Content-Type' });
}
