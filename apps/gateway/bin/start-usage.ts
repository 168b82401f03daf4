export const START_USAGE = `bun start

Installs what it needs, brings the database up to date, and runs the gateway until Ctrl-C or SIGTERM, which let requests
under way finish (DRAIN_TIMEOUT, 30 s); a second signal, a second or more later, ends it at once.

Settings are environment variables, or lines of a file .env beside package.json. The most usual:

  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …   providers; without any, the model demo-chat answers
  PORT (8080), HOST (127.0.0.1)                          where it listens
  DATABASE_URL, REDIS_URL                                Postgres and Redis instead of what is embedded
  DATA_DIR (./data)                                      where embedded data lies
  ADMIN_TOKEN                                            for dashboard and admin API; printed by the first start without it

.env.example has all of them. Who lost the admin token: bun run llm0 reset-admin-token`;
