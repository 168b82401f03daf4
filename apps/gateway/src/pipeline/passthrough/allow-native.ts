import type { JsonObject } from '@llm0/core/chat/json';
import { refuseStored } from '@llm0/core/chat/own-files';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type Principal, passthroughOf } from '@llm0/core/keys/api-key';
import { allowsPath, type NativeShape, type PassthroughProvider } from '@llm0/providers/transport/call-passthrough';
import type { ConnectedProvider } from '../../services/contract';

/** A request to a provider's native API. */
export interface NativeAsk {
  readonly provider: string;
  readonly method: string;
  readonly path: string;
  /** The inference endpoint that is asked; undefined for every other path. */
  readonly shape?: NativeShape;
}

/** The inference endpoint at a path. */
export function findShape(
  { passthrough }: PassthroughProvider,
  { method, path }: Pick<NativeAsk, 'method' | 'path'>,
): NativeShape | undefined {
  return method === 'POST' ? passthrough.shapes.find((shape) => shape.path.test(path)) : undefined;
}

/** Throws `permission_denied` for a provider outside of key and project, and for unlisted paths. */
export function allowNative(
  principal: Principal,
  { provider, method, path, shape }: NativeAsk,
  connected: Pick<ConnectedProvider, 'passthroughPaths'> | undefined,
): void {
  if (!passthroughOf(principal).includes(provider)) {
    throw new GatewayError(
      'permission_denied',
      `This key may not use the native API of "${provider}". The operator can name it in "passthrough" of the key or its ` +
        `project: {"passthrough": ["${provider}"]}.`,
    );
  }
  if (shape !== undefined || allowsPath(connected?.passthroughPaths ?? [], method, path)) return;
  const shown = path.slice(0, 120);
  throw new GatewayError(
    'permission_denied',
    `${method} ${shown} is no inference endpoint of "${provider}" that this gateway knows. The operator can list it in ` +
      `"passthrough_paths" of the provider: ["${method} ${shown}"].`,
  );
}

/** Throws for a file or cached content of the provider's account, but for who may use all of the native API. */
export function refuseStoredParts({
  isOwn,
  shape,
  body,
}: Pick<NativeAsk, 'shape'> & { readonly isOwn?: true; readonly body?: JsonObject }): void {
  if (isOwn !== true || body === undefined) return;
  const param = shape?.findStored?.(body);
  if (param !== undefined) throw refuseStored(param, 'Send its data, or a public URL.');
}
