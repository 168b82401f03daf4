// A host with private addresses fails each attempt as unreachable; its name is resolved again every minute.
import { upstreamFailure } from '../upstream-failure';
import { type EgressOptions, type PinnedUrl, pinUrl, RefusedUrl } from './fetch-guarded';

export interface PinnedFetchOptions extends EgressOptions {
  /** Named in messages. */
  readonly provider: string;
  readonly monotonicMs: () => number;
}

const PIN_MS = 60_000;

interface Pin extends PinnedUrl {
  readonly untilMs: number;
}

export type PinnedFetch = typeof globalThis.fetch & {
  /** The verified address of an origin, for connections of other kinds. */
  readonly pin: PinOrigin;
};

export type PinOrigin = (origin: string) => Promise<PinnedUrl>;

/**
 * A fetch for base URLs that an operator gave at run time: the name is resolved, private addresses are refused, and the
 * connection goes to the very address that was checked. Redirects are handed back, never followed.
 */
export function createPinnedFetch(options: PinnedFetchOptions): PinnedFetch {
  const pins = new Map<string, Pin>();
  const pinFor = async (origin: string): Promise<Pin> => {
    const known = pins.get(origin);
    if (known !== undefined && known.untilMs > options.monotonicMs()) return known;
    const pin = { ...(await pinOrRefuse(origin, options)), untilMs: options.monotonicMs() + PIN_MS };
    pins.set(origin, pin);
    return pin;
  };
  const pinnedFetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const pin = await pinFor(url.origin);
    url.host = new URL(pin.url).host;
    const headers = new Headers(init.headers);
    headers.set('host', pin.host);
    const tls = { ...(pin.serverName === undefined ? {} : { serverName: pin.serverName }), ca: options.ca };
    return options.fetch(url.href, { ...init, headers, redirect: 'manual', tls } as RequestInit);
  };
  return Object.assign(pinnedFetch, { preconnect: () => {}, pin: pinFor });
}

async function pinOrRefuse(origin: string, options: PinnedFetchOptions): Promise<PinnedUrl> {
  try {
    return await pinUrl(origin, options);
  } catch (error) {
    // Callers read it too: the operator's address is none of their business.
    const reason = error instanceof RefusedUrl ? error.reason : 'could not be used';
    throw upstreamFailure('connection', options.provider, `cannot be reached: its URL ${reason}.`, error);
  }
}
