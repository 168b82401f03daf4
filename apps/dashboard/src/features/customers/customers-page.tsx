import { usePage } from '../../range/use-page';
import { PageFrame } from '../shell/page-frame';
import { CustomersCard } from './customers-card';

export function CustomersPage() {
  const page = usePage();
  return (
    <PageFrame title="Customers" intro="Spend and limits of each customer that your requests name." page={page}>
      <CustomersCard page={page} />
    </PageFrame>
  );
}
