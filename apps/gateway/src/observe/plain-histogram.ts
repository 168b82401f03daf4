import type { Registry } from 'prom-client';
import { asMetric, Buckets } from './record-metrics';

/** A histogram without labels that is cheap enough for every request and every chunk. */
export class PlainHistogram {
  private readonly buckets: Buckets;

  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly bounds: readonly number[];
    readonly registry: Registry;
  }) {
    const { name, help, bounds, registry } = options;
    this.buckets = new Buckets(bounds);
    registry.registerMetric(asMetric({ name, help, type: 'histogram', samples: () => this.buckets.samples(name, {}) }));
  }

  observe(value: number): void {
    this.buckets.add(value);
  }
}
