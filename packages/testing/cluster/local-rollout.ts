// What Helm and Kubernetes do with the chart's Job and Deployment, on processes of this machine.
import { find, type Manifest } from '../chart/render-chart';
import { type Pod, type Secrets, startPod, untilReady } from './local-pods';

/** How long nodes and balancers go on sending requests to a pod that is going. */
const ENDPOINT_LAG_MS = 600;

export interface Ended {
  readonly code: number;
  readonly wasKilled: boolean;
  readonly ms: number;
}

/** The Job failed: nothing was rolled out. */
export class HookFailed extends Error {}

/** One release: a migration before each install and upgrade, then pods one by one. */
export class LocalRollout {
  private pods: Pod[] = [];
  private next = 0;
  private endpoints: readonly Pod[] = [];

  constructor(private readonly secrets: Secrets) {}

  /** What the Service sends the next request to. */
  endpoint(): string {
    const pod = this.endpoints[this.next++ % this.endpoints.length];
    if (pod === undefined) throw new Error('the Service has no endpoint');
    return pod.url('http');
  }

  get pids(): readonly number[] {
    return this.pods.map(({ pid }) => pid);
  }

  /** `helm install` and `helm upgrade`: tells how the pods ended that were replaced. Throws `HookFailed` with the Job's words. */
  async apply(
    manifests: readonly Manifest[],
    secrets = this.secrets,
  ): Promise<{ readonly migrated: string; readonly ended: readonly Ended[] }> {
    const migrated = await this.runHook(find(manifests, 'Job'), secrets);
    const deployment = find(manifests, 'Deployment');
    const { maxSurge, maxUnavailable } = deployment.spec.strategy.rollingUpdate;
    if (maxSurge !== 1 || maxUnavailable !== 0)
      throw new Error('this stands in for one pod more at a time, and none less');
    const old = this.pods;
    const ended: Promise<Ended>[] = [];
    this.pods = [];
    for (let index = 0; index < deployment.spec.replicas; index++) {
      const pod = await startPod(deployment, secrets);
      this.pods.push(pod);
      await untilReady(pod);
      this.endpoints = [...this.endpoints, pod];
      const leaving = old[index];
      if (leaving === undefined) continue;
      // Both begin at once: who is told late still sends requests to the pod that goes.
      setTimeout(() => {
        this.endpoints = this.endpoints.filter((one) => one !== leaving);
      }, ENDPOINT_LAG_MS);
      ended.push(leaving.terminate());
    }
    return { migrated, ended: await Promise.all(ended) };
  }

  /** Address at which operators are served. */
  adminUrl(): string {
    const [pod] = this.pods;
    if (pod === undefined) throw new Error('there is no pod');
    return pod.url('admin');
  }

  output(): string {
    return this.pods.map((pod) => pod.output()).join('\n');
  }

  async close(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.kill()));
  }

  private async runHook(job: Manifest, secrets: Secrets): Promise<string> {
    const pod = await startPod(job, secrets);
    const code = await pod.exited;
    if (code !== 0) throw new HookFailed(pod.output());
    return pod.output();
  }
}
