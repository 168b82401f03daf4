// Without the hot store, backends fail as chat does. The answer passes byte by byte, and cacheable ones are stored.
import { noteHttp } from '@llm0/core/tracing/request-trace';
import type { ErrorEnvelope } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { handleRefusal, type Progress } from '../handle-refusal';
import { admitInTurn } from '../request/admit-in-turn';
import { authenticate } from '../request/authenticate';
import { openContext } from '../request/open-context';
import { InferMeter } from './infer-meter';
import { type InferJob, inferPlanner, readShared } from './plan-infer';
import { produceInfer } from './produce-infer';
import { readStream } from './read-stream';
import { readTarget } from './read-target';
import { respondInfer } from './respond-infer';

const DIALECT = 'infer';

/** A plain HTTP service under this gateway's keys, limits, cache and log. */
export async function handleInfer(
  services: Services,
  envelope: ErrorEnvelope,
  httpRequest: Request,
): Promise<Response> {
  const progress: Progress = {};
  const underWay = services.openRequests.enter();
  try {
    const ctx = noteHttp(openContext(services, httpRequest, underWay), httpRequest);
    progress.ctx = ctx;
    const principal = await authenticate(services, httpRequest);
    progress.principal = principal;
    ctx.held.key = principal.key.id;
    const job = readJob(httpRequest);
    progress.requestedModel = job.model;
    const body = readStream(services, httpRequest);
    const { headers } = httpRequest;
    const { requestId, controls } = ctx;
    const asked = { headers, requestId, controls };
    const shared = await readShared(services, asked, { job, principal });
    const planner = inferPlanner(services, { ...asked, shared });
    const admission = await admitInTurn(services, { ctx, principal, dialect: DIALECT, request: job }, planner);
    progress.principal = admission.principal;
    const meter = new InferMeter(services, { ctx, dialect: DIALECT, admission, job });
    progress.meter = meter;
    const call = { ctx, admission, meter, job, request: httpRequest, body };
    const produced = await produceInfer(services, call);
    return await respondInfer(services, call, { produced, onEnd: underWay.end });
  } catch (cause) {
    underWay.end();
    return await handleRefusal(services, { dialect: DIALECT, envelope, progress, cause });
  }
}

const MAX_MODEL_LENGTH = 400;

function readJob(httpRequest: Request): InferJob {
  const target = readTarget(httpRequest);
  return { ...target, model: `${target.method} ${target.path}`.slice(0, MAX_MODEL_LENGTH) };
}
