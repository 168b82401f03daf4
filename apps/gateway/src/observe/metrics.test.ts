import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { Metrics } from './metrics';
import { sampleLoopLag } from './sample-loop-lag';

const DASHBOARD = join(import.meta.dir, '../../../../docs/grafana-dashboard.json');

const namesIn = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''));

describe('metrics', () => {
  test('the dashboard shows what is exported, and everything that is', async () => {
    const text = await new Metrics().registry.metrics();
    const exported = namesIn(text, /^# TYPE (\S+)/gm);
    const histograms = namesIn(text, /^# TYPE (\S+) histogram/gm);
    const series = new Set([
      ...exported,
      ...[...histograms].flatMap((name) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]),
    ]);
    const used = namesIn(await Bun.file(DASHBOARD).text(), /\b(llm0_[a-z_]+)\b/g);
    expect([...used].filter((name) => !series.has(name))).toEqual([]);
    const shown = new Set([...used].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    expect([...exported].filter((name) => !shown.has(name))).toEqual([]);
  });

  test('every metric name stands once, and every panel has a place of its own', async () => {
    const { panels } = (await Bun.file(DASHBOARD).json()) as {
      panels: { id: number; gridPos: { x: number; y: number }; targets?: { expr: string }[] }[];
    };
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
    const text = await new Metrics().registry.metrics();
    const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(new Set(types).size).toBe(types.length);
  });

  test('histograms without labels are cumulative and end in +Inf', async () => {
    const metrics = new Metrics();
    for (const ms of [0.05, 3, 3, 5000]) metrics.admitMs.observe(ms);
    const lines = (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('llm0_hot_store_admit_ms'));
    expect(lines).toContain('llm0_hot_store_admit_ms_bucket{le="0.1"} 1');
    expect(lines).toContain('llm0_hot_store_admit_ms_bucket{le="5"} 3');
    expect(lines).toContain('llm0_hot_store_admit_ms_bucket{le="+Inf"} 4');
    expect(lines).toContain('llm0_hot_store_admit_ms_count 4');
  });

  test('no label ever names a project, a key or a customer', async () => {
    const metrics = new Metrics();
    const record = sampleRecord({ customerId: 'customer-1', labels: { team: 'team-1' }, errorMessage: 'message-1' });
    metrics.observeRecord(record);
    const text = await metrics.registry.metrics();
    expect(text).toContain('llm0_requests_total{');
    for (const secret of [record.projectId, record.apiKeyId, record.id, 'customer-1', 'team-1', 'message-1']) {
      expect(text).not.toContain(secret);
    }
  });

  test('a blocked event loop shows as lag', async () => {
    const lags: number[] = [];
    const stop = sampleLoopLag(
      (lagMs) => lags.push(lagMs),
      () => performance.now(),
    );
    const endMs = performance.now() + 700;
    while (performance.now() < endMs);
    await Bun.sleep(50);
    stop();
    expect(Math.max(...lags)).toBeGreaterThan(100);
  });
});
