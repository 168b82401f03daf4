// Processes on this machine in the place of pods: what a container is told (environment, command, probes, hooks, grace) is
// taken from the manifest and done as Kubernetes does it. A port of its own stands for each pod's address.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_ENVIRONMENT } from '../../../apps/gateway/bin/runtime-environment';
import type { Manifest } from '../chart/render-chart';
import { freePort, removeFolder, temporaryFolder } from '../stores/server-process';

const ROOT = join(import.meta.dir, '../../..');
/** As a node that is quick: the manifest's period is for nodes with many pods. */
const PROBE_PERIOD_MS = 100;
const START_TIMEOUT_MS = 60_000;

/** Secrets by name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

/** A container's process, and what it printed. */
export interface Pod {
  readonly pid: number;
  /** Its address at a port of that name. */
  url(port: string): string;
  isReady(): Promise<boolean>;
  output(): string;
  readonly exited: Promise<number>;
  /** As `kubectl delete pod`: hook, SIGTERM, and SIGKILL once the grace period is over. Tells how it ended, and how long it took. */
  terminate(): Promise<{ readonly code: number; readonly wasKilled: boolean; readonly ms: number }>;
  kill(): Promise<void>;
}

/** Starts the container of a Deployment's or Job's template. */
export async function startPod(manifest: Manifest, secrets: Secrets): Promise<Pod> {
  const { containers, terminationGracePeriodSeconds = 30 } = manifest.spec.template.spec;
  const [container] = containers as [Container];
  const ports = new Map<string, number>();
  for (const { name } of container.ports ?? []) ports.set(name, await freePort());
  const volumes = temporaryFolder('pod');
  const child = Bun.spawn(onThisMachine(container.command), {
    cwd: ROOT,
    env: environmentOf(container, { secrets, ports, volumes }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let output = '';
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
  };
  const printed = Promise.all([read(child.stdout), read(child.stderr)]);
  const exited = child.exited.then(async (code) => {
    await printed;
    removeFolder(volumes);
    return code;
  });
  const url = (port: string) => `http://127.0.0.1:${ports.get(port)}`;
  const { httpGet } = container.readinessProbe ?? {};
  return {
    ...{ pid: child.pid, url, exited, output: () => output },
    isReady: async () => httpGet !== undefined && (await isOk(`${url(httpGet.port)}${httpGet.path}`)),
    terminate: async () => {
      const startMs = performance.now();
      let wasKilled = false;
      const timer = setTimeout(() => {
        wasKilled = true;
        child.kill('SIGKILL');
      }, terminationGracePeriodSeconds * 1000);
      const hook = container.lifecycle?.preStop.exec.command;
      if (hook !== undefined) await Bun.spawn([...hook]).exited;
      child.kill('SIGTERM');
      const code = await exited;
      clearTimeout(timer);
      return { code, wasKilled, ms: performance.now() - startMs };
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Waits until its readiness probe succeeds; throws with what it printed where it ends before, or takes too long. */
export async function untilReady(pod: Pod): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  let code: number | undefined;
  void pod.exited.then((ended) => {
    code = ended;
  });
  while (!(await pod.isReady())) {
    if (code !== undefined) throw new Error(`the pod ended with ${code}:\n${pod.output()}`);
    if (performance.now() > endMs) throw new Error(`the pod is not ready:\n${pod.output()}`);
    await Bun.sleep(PROBE_PERIOD_MS);
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000), headers: { connection: 'close' } });
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

const onThisMachine = ([program = '', ...rest]: readonly string[]) => [
  program === 'bun' ? process.execPath : program,
  ...rest,
];

interface Place {
  readonly secrets: Secrets;
  readonly ports: ReadonlyMap<string, number>;
  /** The folder that the container's volumes are in. */
  readonly volumes: string;
}

const PORT_VARIABLES: Readonly<Record<string, string>> = { PORT: 'http', ADMIN_PORT: 'admin' };

/** The image's own environment, then the container's; nothing else of this machine but where programs are. */
function environmentOf(container: Container, { secrets, ports, volumes }: Place): Record<string, string> {
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', ...RUNTIME_ENVIRONMENT };
  for (const { name, value, valueFrom } of container.env) {
    const from = valueFrom?.secretKeyRef;
    const text = from === undefined ? value : secrets[from.name]?.[from.key];
    if (text === undefined && from?.optional === true) continue;
    if (text === undefined) throw new Error(`${name} has no value: there is no such Secret`);
    const port = ports.get(PORT_VARIABLES[name] ?? '');
    env[name] = port === undefined ? text : String(port);
  }
  for (const { name, mountPath } of container.volumeMounts) {
    const folder = join(volumes, name);
    if (mountPath === '/tmp') env.TMPDIR = emptyDir(folder);
    else env.DATA_DIR = (env.DATA_DIR ?? '').replace(mountPath, emptyDir(folder));
  }
  // Inside a container every address is its own; here others are beside it.
  if (env.HOST === '0.0.0.0') env.HOST = '127.0.0.1';
  return env;
}

/** As the node makes one: open to everybody. */
function emptyDir(path: string): string {
  Bun.spawnSync(['mkdir', '-p', path]);
  chmodSync(path, 0o777);
  return path;
}
