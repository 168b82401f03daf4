import { keptZone } from './kept-zone';

export const text = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};
export const textLike = (isRight: (given: string) => boolean) => (value: unknown) => {
  const given = text(value);
  return given !== undefined && isRight(given) ? given : undefined;
};
export const uuid = textLike((given) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given));
export const oneOf =
  <T>(values: readonly T[]) =>
  (value: unknown) =>
    values.find((one) => one === value);

type Readers = Readonly<Record<string, (value: unknown) => string | undefined>>;
type ReadBy<R extends Readers> = { readonly [K in keyof R]?: NonNullable<ReturnType<R[K]>> };

/** Valid parameters of an address; others are dropped. */
const readBy = <R extends Readers>(readers: R, search: Record<string, unknown>): ReadBy<R> =>
  dropUndefined(
    Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(search[name])])) as ReadBy<R>,
  );

/** Common address parameters: range, zone (without one, the zone that this browser keeps), project. */
const PAGE = {
  /** Also what can't be read: see `unreadRange`. */
  ...{ range: text, from: text, to: text },
  tz: (value: unknown) => oneOf(['local', 'utc'] as const)(value) ?? keptZone(),
  /** Switches for the previous period and for events. */
  previous: oneOf(['on'] as const),
  marks: oneOf(['off'] as const),
  project: uuid,
  /** Open panel of the page's list. */
  open: text,
};
export type PageSearch = ReadBy<typeof PAGE>;
export const readPageSearch = (search: Record<string, unknown>): PageSearch => readBy(PAGE, search);

export function dropUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}

type Search = Record<string, unknown>;

/** Validator for the router: removes invalid values of names that `read` reads, which the router would keep. */
export const tidied =
  <T extends object>(read: (search: Search) => T) =>
  (search: Search): T => {
    const asked = new Set<string>();
    const watched = new Proxy(search, {
      get: (target, name) => {
        if (typeof name !== 'string') return undefined;
        asked.add(name);
        return Object.hasOwn(target, name) ? target[name] : undefined;
      },
    });
    const found = read(watched);
    return { ...Object.fromEntries([...asked].map((name) => [name, undefined])), ...found };
  };
