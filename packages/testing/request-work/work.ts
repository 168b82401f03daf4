/** What the gateway's code did, by file and name of the function. Objects, arrays, closures and `new` are allocations. */
export type Work = Readonly<Record<string, { readonly calls: number; readonly allocations: number }>>;
