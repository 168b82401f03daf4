import { useProjectNames } from '../../api/projects';
import { useExampleModel, useGatewayUrl } from '../../api/settings';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { type Column, timeColumn } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { FirstCall } from '../shell/first-call';
import { PageFrame } from '../shell/page-frame';
import { BatchDrawer } from './batch-drawer';
import { progressOf, statusOf, toneOf } from './prepare-batch';
import { ProgressBar } from './progress-bar';
import { type Batch, useBatches } from './use-batches';

/** Batches of requests; a row opens its progress. */
export function BatchesPage() {
  const page = usePage();
  const batches = useBatches(page.projectId);
  const opened = useOpened();
  const url = useGatewayUrl();
  const model = useExampleModel();
  const projectName = useProjectNames();
  const project: Column<Batch> = { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) };
  return (
    <PageFrame title="Batches" intro="Files of requests that run within the limits of their key, in up to a day.">
      <TableCard
        caption="Batches, newest first"
        query={batches}
        columns={[timeColumn<Batch>(page.timeZone), BATCH, project, ...COLUMNS]}
        rows={batches.data?.rows}
        rowKey={({ id }) => id}
        linkOf={({ id }) => opened.linkTo(id)}
        emptyTitle="No batches yet"
        emptyHint={
          <FirstCall
            text="A batch answers many requests at leisure, often at half the price. Upload a file with one request a line, then start it."
            code={firstBatch(url, model)}
          />
        }
      >
        <MoreRows pages={batches} shown={batches.data?.rows.length ?? 0} />
        {opened.id !== undefined && <BatchDrawer of={{ id: opened.id }} onClose={opened.close} />}
      </TableCard>
    </PageFrame>
  );
}

const firstBatch = (url: string, model: string) => `cat > requests.jsonl <<'END'
{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}}
END
FILE=$(curl -s ${url}/v1/files \\
  -H "Authorization: Bearer $LLM0_API_KEY" \\
  -F purpose=batch -F file=@requests.jsonl | grep -o 'file-[^"]*')
curl ${url}/v1/batches \\
  -H "Authorization: Bearer $LLM0_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"input_file_id": "'$FILE'",
    "endpoint": "/v1/chat/completions",
    "completion_window": "24h"}'`;

const BATCH: Column<Batch> = { header: 'Batch', narrow: true, value: (row) => row.batch_id };
const COLUMNS: readonly Column<Batch>[] = [
  { header: 'Status', value: statusOf, tone: toneOf },
  {
    header: 'Progress',
    value: progressOf,
    cell: (row) => <ProgressBar share={progressOf(row) ?? 0} label={`Progress of ${row.batch_id}`} />,
  },
  { header: 'Lines', unit: 'count', wideOnly: true, value: (row) => row.total },
  { header: 'Failed', unit: 'count', wideOnly: true, value: (row) => row.failed },
  { header: 'Cost', unit: 'cost', value: (row) => row.cost_usd },
  { header: 'At most', unit: 'cost', wideOnly: true, value: (row) => row.bound_usd },
];
