import { expect, test } from 'bun:test';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { settlementOfRecord } from './settlement';

test("a record is handed in again as it was settled: a request with its tokens, a tool's call without any", () => {
  const [request, call] = [sampleRecord({ customerId: 'ann' }), sampleCall()];
  const common = { held: false, projectId: call.projectId, keyId: call.apiKeyId };
  expect(settlementOfRecord(JSON.stringify(request))).toEqual({
    ...{ ...common, requestId: request.id, admittedAtMs: request.createdAtMs, costNanoUsd: request.costNanoUsd },
    ...{ customerId: 'ann', tokens: 30, record: JSON.stringify(request) },
  });
  expect(settlementOfRecord(JSON.stringify(call))).toEqual({
    ...{ ...common, requestId: call.id, admittedAtMs: call.createdAtMs, costNanoUsd: call.costNanoUsd },
    ...{ tokens: 0, record: JSON.stringify(call) },
  });
});
