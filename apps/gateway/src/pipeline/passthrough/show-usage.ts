import type { NativePath, PassthroughProvider } from '@llm0/providers/transport/call-passthrough';
import { hidesUsage } from '../request/forwarded-headers';
import { type NativeBody, rewrite } from '../request/native-body';
import type { NativeJob } from './plan-passthrough';

/** The vendor's path without what would take usage out of its answer; `dropped` names that, headers too. */
export function showUsage(
  { passthrough }: PassthroughProvider,
  { path, query }: NativePath,
  headers: Headers,
): { readonly native: NativePath; readonly dropped: readonly string[] } {
  // Beside inference nothing is billed by usage, and partial answers are what is wanted.
  const isInference = passthrough.shapes.some((shape) => shape.path.test(path));
  const kept = new URLSearchParams();
  const dropped: string[] = [];
  for (const [name, value] of query) {
    if (isInference && passthrough.hidesUsage?.(name.toLowerCase(), value) === true) dropped.push(name);
    else kept.append(name, value);
  }
  headers.forEach((_value, name) => {
    if (hidesUsage(name)) dropped.push(name);
  });
  return { native: { path, query: kept }, dropped: dropped.map((name) => name.replace(/[^\w$.-]/g, '_')) };
}

/** The request, so that its answer says what it costs; the very same body where it does already. */
export async function askForUsage(
  job: NativeJob,
  body: NativeBody,
): Promise<{ readonly job: NativeJob; readonly body: NativeBody }> {
  const asked = job.body && job.shape?.askForUsage?.(job.body);
  if (asked === undefined || asked === job.body) return { job, body };
  return { job: { ...job, body: asked }, body: await rewrite(body, asked) };
}
