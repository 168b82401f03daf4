import type { Reconciliation } from '../e2e/environment';
import { callAdmin, type GatewayProcess } from '../stores/start-gateway';
import type { Books } from './judge';
import type { BillLine } from './vendor-bill';

const POLL_MS = 50;
const NANO = 1e9;
/** Beyond the lease: reaper and drain. */
const SETTLED_MS = 15_000;

/** Waits until nothing is held or queued, then compares what was booked for the project with the vendor's bill. */
export async function readBooks(gateway: GatewayProcess, projectId: string, bill: readonly BillLine[]): Promise<Books> {
  const endMs = performance.now() + SETTLED_MS;
  const billedNanoUsd = bill.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
  for (;;) {
    const books = await callAdmin<Reconciliation>(gateway, '/reconcile');
    const isEven = books.ok && books.open_holds === 0 && books.queue_depth === 0;
    const booked = books.projects.find((one) => one.project_id === projectId)?.counter_usd ?? 0;
    if (isEven || performance.now() > endMs) {
      return { bookedNanoUsd: Math.round(booked * NANO), billedNanoUsd, isEven };
    }
    await Bun.sleep(POLL_MS);
  }
}
