# syntax=docker/dockerfile:1
FROM oven/bun:1.4.4 AS dependencies
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY apps/gateway/package.json apps/gateway/
COPY apps/dashboard/package.json apps/dashboard/
COPY apps/docs/package.json apps/docs/
COPY packages/core/package.json packages/core/
COPY packages/providers/package.json packages/providers/
COPY packages/testing/package.json packages/testing/
COPY drizzle/package.json drizzle/
COPY drizzle/patches drizzle/patches
COPY bench/package.json bench/
RUN bun install --frozen-lockfile

FROM dependencies AS build
COPY . .
# Builds the dashboard and the documentation; the gateway itself runs from its sources.
RUN bun -e 'const { ensureDashboard, ensureDocs } = await import("./apps/gateway/bin/ensure-dashboard.ts"); process.exit((await ensureDashboard()) && (await ensureDocs()) ? 0 : 1)' \
  && rm -rf node_modules && bun install --frozen-lockfile --production --filter './apps/*' \
  && bun -e '(await import("./apps/gateway/bin/ensure-installed.ts")).removeForeignBinaries()'

FROM oven/bun:1.4.4-slim
WORKDIR /app
# Upstream connections at once: see apps/gateway/bin/runtime-environment.ts.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data BUN_CONFIG_MAX_HTTP_REQUESTS=20000 BUN_JSC_forceRAMSize=536870912 MIMALLOC_PURGE_DELAY=100
COPY --from=build --chown=root:root /app ./
RUN install -d -o bun -g bun -m 0700 /data
USER bun
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["bun", "apps/gateway/bin/health-check.ts"]
# No shell in between: SIGTERM reaches the gateway, which drains.
CMD ["bun", "apps/gateway/src/main.ts"]
