// Answers and does nothing else: how long this machine itself lets somebody wait.
const bare = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ ok: true }) });
console.log(String(bare.url));
