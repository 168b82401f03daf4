import { describeHotStore } from './hot-store.cases';
import { openEmbedded, openRedis } from './open-stores.fixture';

describeHotStore('embedded hot store', openEmbedded);
describeHotStore('redis hot store', openRedis);
