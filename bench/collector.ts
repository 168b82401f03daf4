// A collector that takes everything and keeps nothing: what sending costs, without what a real one does with it.
const collector = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    await request.arrayBuffer();
    return new Response();
  },
});

console.log(`ready ${collector.port}`);
