// Loaded into every test process. While `expect(…).rejects` or `.resolves` waits, Bun 1.4.4 runs what a timer passed to
// `setImmediate` only once another timer is due, which may be a second later: there is one soon.
const turning = setInterval(() => {}, 5);
turning.unref();

export {};
