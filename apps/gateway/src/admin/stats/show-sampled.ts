import type { Differences } from '@llm0/drizzle/queries/stats/read/differences';
import type { Flows } from '@llm0/drizzle/queries/stats/read/flows';

export const showDifferences = ({ inside, outside, isSampled: sampled, differences: found }: Differences) => ({
  inside_requests: inside,
  outside_requests: outside,
  sampled,
  data: found.map(({ field, value, insideShare, outsideShare }) => ({
    ...{ field, value, inside_share: insideShare, outside_share: outsideShare },
  })),
});

export const showFlows = ({ requests, isSampled: sampled, flows: found }: Flows) => ({
  ...{ requests, sampled },
  data: found.map((flow) => ({
    project_id: flow.projectId,
    requested_model: flow.requestedModel,
    provider: flow.provider,
    cached: flow.isCached,
    requests: flow.requests,
    success: flow.success,
    failed: flow.failed,
  })),
});
