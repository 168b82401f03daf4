import { PageFrame } from '../shell/page-frame';
import { AuditCard } from './audit-card';

export const AuditPage = () => (
  <PageFrame title="Audit" intro="Every change, with its author.">
    <AuditCard />
  </PageFrame>
);
