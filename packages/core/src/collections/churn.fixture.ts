/** Puts objects into a collection of the kind that is named, takes each out soon after, and prints nothing; its collector does. */
import { LinkedSet, type Place, ReleasingMap } from './linked-set';

const linked = new LinkedSet<object>();
const places: Place<object>[] = [];
const releasing = new ReleasingMap<number, object>();
const map = new Map<number, object>();

const CHURN: Record<string, (value: object, n: number) => void> = {
  linked: (value) => {
    places.push(linked.add(value));
    const oldest = places.length > 10 ? places.shift() : undefined;
    if (oldest !== undefined) linked.remove(oldest);
  },
  releasing: (value, n) => {
    releasing.set(n, value);
    releasing.delete(n - 10);
  },
  map: (value, n) => {
    map.set(n, value);
    map.delete(n - 10);
  },
};

const churn = CHURN[process.argv[2] ?? ''];
if (churn === undefined) throw new Error('which one?');
for (let n = 0; n < 400_000; n++) churn({ parts: new Array(300).fill(n) }, n);
