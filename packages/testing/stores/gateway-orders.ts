/** `id`: one of each gateway. */
export type Order =
  | { readonly do: 'serve'; readonly id: number; readonly env: Readonly<Record<string, string>> }
  | { readonly do: 'stop'; readonly id: number };

/** Answers an order of that id. `url`: of a gateway that serves. */
export interface Report {
  readonly id: number;
  readonly url?: string;
  readonly problem?: string;
}

/** What a line of the log calls the gateway that wrote it. */
export const GATEWAY_FIELD = 'gateway_of_tests';
