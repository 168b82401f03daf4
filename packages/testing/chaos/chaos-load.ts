import { postChat } from '../e2e/environment';
import type { ChaosKeys } from './chaos-keys';
import { type ChaosRequest, nextRequest } from './chaos-requests';
import { Random } from './random';
import type { Replica } from './replica';

/** A client gives up after this long; the gateways' own limits are far shorter. */
const PATIENCE_MS = 40_000;
const THINK_MS = { least: 0, most: 350 } as const;
const NOBODY_THERE_MS = 25;

/** A complete answer that a client holds in its hands. */
export interface ChaosAnswer {
  readonly kind: string;
  readonly status: number;
  /** As the client was told; undefined for errors. */
  readonly costNanoUsd: number | undefined;
}

export interface LoadFigures {
  asked: number;
  /** Connections that broke, answers cut, clients that left: nothing was promised to them. */
  broken: number;
  /** 503s of requests whose key could not be looked up: they never passed auth. */
  unauthenticated: number;
}

/** Clients that ask until they are stopped, and remember every answer they got. */
export class ChaosLoad {
  readonly answers = new Map<string, ChaosAnswer>();
  readonly figures: LoadFigures = { asked: 0, broken: 0, unauthenticated: 0 };
  /** Answers by status. */
  readonly statuses = new Map<number, number>();
  private readonly open = new Set<AbortController>();
  private running = true;
  private quiet: PromiseWithResolvers<void> | undefined;
  private readonly lanes: Promise<unknown>;

  constructor(
    private readonly options: {
      readonly keys: ChaosKeys;
      readonly replicas: readonly Replica[];
      readonly seed: number;
      readonly lanes: number;
    },
  ) {
    this.lanes = Promise.all(Array.from({ length: options.lanes }, (_, lane) => this.runLane(lane)));
  }

  /** All open connections are cut by their clients. */
  cutClients(): number {
    const count = this.open.size;
    for (const controller of this.open) controller.abort();
    return count;
  }

  /** Nobody asks anything new while `work` goes on, and everything asked before was answered when it begins. */
  async whileQuiet<T>(work: () => Promise<T>): Promise<T> {
    this.quiet = Promise.withResolvers<void>();
    try {
      while (this.open.size > 0) await Bun.sleep(NOBODY_THERE_MS);
      return await work();
    } finally {
      this.quiet.resolve();
      this.quiet = undefined;
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.lanes;
  }

  private async runLane(lane: number): Promise<void> {
    const random = new Random(this.options.seed * 1000 + lane);
    while (this.running) {
      await this.quiet?.promise;
      const up = this.options.replicas.flatMap((replica) => replica.process ?? []);
      const [first, ...others] = up;
      if (first === undefined) await Bun.sleep(NOBODY_THERE_MS);
      else {
        await this.ask(random.pick([first, ...others]), nextRequest(random, this.options.keys));
        await Bun.sleep(random.between(THINK_MS.least, THINK_MS.most));
      }
    }
  }

  private async ask(gateway: { readonly url: string }, request: ChaosRequest): Promise<void> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), request.leaveAfterMs ?? PATIENCE_MS);
    this.open.add(controller);
    this.figures.asked++;
    try {
      const { signal } = controller;
      const response = await postChat(gateway, request.key.apiKey, request.body, { headers: request.headers, signal });
      const text = await response.text();
      this.take(request.kind, response, text);
    } catch {
      this.figures.broken++;
      await Bun.sleep(NOBODY_THERE_MS);
    } finally {
      clearTimeout(timer);
      this.open.delete(controller);
    }
  }

  private take(kind: string, response: Response, text: string): void {
    const requestId = response.headers.get('x-request-id');
    const { status } = response;
    if (requestId === null) throw new Error(`an answer without X-Request-Id: ${status} ${text}`);
    if (status === 503 && text.includes('The key store is unreachable')) {
      this.figures.unauthenticated++;
      return;
    }
    const cost = response.ok ? toldCost(response, text) : undefined;
    if (response.ok && cost === undefined) {
      this.figures.broken++;
      return;
    }
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    this.answers.set(requestId, { kind, status, costNanoUsd: cost });
  }
}

/** What a whole answer says it cost; undefined when it is not whole. */
function toldCost(response: Response, text: string): number | undefined {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return toNano((JSON.parse(text) as { cost_usd: number }).cost_usd);
  }
  if (!text.trimEnd().endsWith('data: [DONE]')) return undefined;
  const told = /"cost_usd":\s*([-\d.e]+)/.exec(text)?.[1];
  return told === undefined ? undefined : toNano(Number(told));
}

const toNano = (usd: number) => Math.round(usd * 1e9);
