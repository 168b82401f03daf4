import { changesOf, type FieldChange, isDigestOf, SECRET, secretsOf } from './compare';
import { type ConfigProblem, InvalidConfig, type Path } from './config-problem';
import { type KeySource, sourceOf } from './key-secrets';
import type { Found, GatewayState, Managed } from './load-state';
import { nounOf, problemAt, type Wanted } from './read-resources';
import { KINDS, kindOf } from './resource-kinds';
import { secretFormOf } from './secret-forms';

/** One change of one resource. */
export interface Step extends Pick<Wanted, 'kind' | 'name'> {
  readonly action: 'create' | 'change' | 'delete';
  readonly changes: readonly FieldChange[];
  /** Absent for a deletion. */
  readonly wanted?: Wanted;
  /** Absent for a new one. */
  readonly found?: Found;
  /** Id of its project; null without one, undefined for one that this apply creates. */
  readonly project?: string | null;
  /** The secret of a new key or token. */
  readonly key?: KeySource;
}

export interface Plan {
  /** In the order of their dependencies. */
  readonly steps: readonly Step[];
  readonly unchanged: number;
  readonly notes: readonly string[];
}

export interface PlanOptions {
  readonly isPruning: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Compares the file with the gateway. Throws `InvalidConfig` for what can't be applied. */
export function makePlan(wanted: readonly Wanted[], state: GatewayState, options: PlanOptions): Plan {
  return new Planner(wanted, state, options).plan();
}

class Planner {
  private readonly steps: Step[] = [];
  private readonly problems: ConfigProblem[] = [];
  private readonly notes: string[] = [];
  private readonly kept = new Set<Found>();
  /** Projects of the file by name; undefined for a new one. */
  private readonly projects = new Map<string, Found | undefined>();

  constructor(
    private readonly wanted: readonly Wanted[],
    private readonly state: GatewayState,
    private readonly options: PlanOptions,
  ) {}

  plan(): Plan {
    for (const one of this.wanted) {
      if (one.kind === 'project')
        this.projects.set(one.name, this.choose(one, this.state.named('project', null, one.at)));
    }
    for (const one of this.wanted) this.planOne(this.withTeam(one));
    this.refuseSharedSecrets();
    if (this.problems.length > 0) throw new InvalidConfig(this.problems);
    const { steps } = this;
    const unchanged = this.wanted.length - steps.length;
    return { steps: [...inOrder(steps), ...inOrder(this.deletions()).reverse()], unchanged, notes: this.notes };
  }

  private planOne(wanted: Wanted): void {
    const project = this.projectOf(wanted);
    const found = this.findFor(wanted, project);
    if (isBareVendor(wanted, this.state)) return;
    if (found === undefined) {
      this.planNew(wanted, project);
      return;
    }
    if (this.kept.has(found)) this.refuse(wanted, `${nounOf(wanted.kind)} "${wanted.name}" is given twice`);
    this.kept.add(found);
    this.refuseMoves(wanted, found);
    this.noteOtherSecret(wanted, found);
    const changes = [...changesOf(wanted.kind, wanted.body, found.shown), ...this.secretChanges(wanted, found)];
    if (wanted.kind === 'alert') changes.push(...movedAlert(wanted, found, project));
    const { kind, name } = wanted;
    if (changes.length > 0) this.steps.push({ action: 'change', kind, name, changes, wanted, found, project });
  }

  private planNew(wanted: Wanted, project: string | null | undefined): void {
    const { kind, name, body, secret } = wanted;
    const { needs = [] } = kindOf(kind);
    for (const field of needs.filter((one) => body[one] === undefined)) {
      this.refuse(wanted, `is required to create the ${nounOf(kind)}`, [field]);
    }
    if (kind === 'alert' && body.webhook_format === 'pagerduty' && body.routing_key === undefined) {
      this.refuse(wanted, 'is required to create the alert', ['routing_key']);
    }
    const hidden = secretsOf(kind, body);
    const changes = Object.entries(body).map(([field, value]) => ({
      ...{ field, old: null, new: hidden[field] === undefined ? value : SECRET },
    }));
    const form = secretFormOf(kind);
    if (form === undefined) {
      this.steps.push({ action: 'create', kind, name, changes, wanted, project });
      return;
    }
    const refuse = (message: string) => this.refuse(wanted, message, ['secret']);
    if (secret === undefined)
      refuse(`is required to create the ${form.field}: {write_to: PATH}, {env: NAME} or {file: PATH}`);
    const key = secret && sourceOf(secret, { form, env: this.options.env, file: wanted.source.path, refuse });
    this.steps.push({ action: 'create', kind, name, changes, wanted, project, key });
  }

  /** Two keys or tokens can't share a secret or a file. */
  private refuseSharedSecrets(): void {
    const owners = new Map<string, string>();
    for (const { key, wanted, name } of this.steps) {
      for (const one of [key?.text, key?.writeTo]) {
        const other = one === undefined ? undefined : owners.get(one);
        if (one !== undefined) owners.set(one, name);
        if (other === undefined || other === name || wanted === undefined) continue;
        this.refuse(wanted, `belongs to the ${nounOf(wanted.kind)} ${other} too`, ['secret']);
        break;
      }
    }
  }

  private findFor(wanted: Wanted, project: string | null | undefined): Found | undefined {
    const { kind, at, name } = wanted;
    if (kind === 'project') return this.projects.get(name);
    if (project === undefined && kind !== 'alert') return undefined;
    return this.choose(wanted, this.state.named(kind, project ?? null, at));
  }

  /** undefined for a project that this apply creates. */
  private projectOf(wanted: Wanted): string | null | undefined {
    const { project } = wanted;
    if (project === undefined || project === null) return null;
    if (this.projects.has(project)) return this.projects.get(project)?.id;
    const [id, ...others] = this.state.projects.get(project) ?? [];
    if (id === undefined) this.refuse(wanted, `there is no project "${project}" here or in the file`, ['project_id']);
    if (others.length > 0) this.refuse(wanted, `several projects are called "${project}": use the id`, ['project_id']);
    return id;
  }

  /** A project with the id of its team; the name of a team that this apply creates stays until then. */
  private withTeam(wanted: Wanted): Wanted {
    const { team_id: team } = wanted.body;
    if (wanted.kind !== 'project' || typeof team !== 'string') return wanted;
    const known = this.state.withId('team', team);
    const [found, ...others] = known === undefined ? this.state.named('team', null, [team]) : [known];
    if (others.length > 0) this.refuse(wanted, `several teams are called "${team}": use the id`, ['team_id']);
    if (found !== undefined) return { ...wanted, body: { ...wanted.body, team_id: found.id } };
    const isInFile = this.wanted.some((one) => one.kind === 'team' && one.name === team);
    if (!isInFile) this.refuse(wanted, `there is no team "${team}" here or in the file`, ['team_id']);
    return wanted;
  }

  /** Names of projects, keys and alerts may occur twice; then an earlier apply knows which one is meant. */
  private choose(wanted: Wanted, found: readonly Found[]): Found | undefined {
    if (found.length <= 1) return found[0];
    const managed = found.filter((one) => this.state.managedWith(one) !== undefined);
    if (managed.length === 1) return managed[0];
    const why = `there are ${found.length} of this name; rename or delete all but one`;
    this.refuse(wanted, `${nounOf(wanted.kind)} "${wanted.name}": ${why}`);
    return found[0];
  }

  private refuseMoves(wanted: Wanted, { shown }: Found): void {
    for (const field of kindOf(wanted.kind).createOnly ?? []) {
      const [is, value] = [shown[field], wanted.body[field]];
      if (value === undefined || is === undefined || is === value) continue;
      this.refuse(wanted, `is "${is}" and can't change; delete the ${nounOf(wanted.kind)} first`, [field]);
    }
  }

  private noteOtherSecret({ kind, secret, source, name }: Wanted, { shown }: Found): void {
    const form = secretFormOf(kind);
    if (form === undefined || secret === undefined || 'write_to' in secret) return;
    const known = sourceOf(secret, { form, env: this.options.env, file: source.path, refuse: () => {} })?.text;
    if (known === undefined || known.startsWith(String(shown.prefix))) return;
    this.notes.push(
      `${form.field} ${name}: the file has another secret. A ${form.field} keeps its own; delete it to create it with the new one.`,
    );
  }

  private secretChanges({ kind, body }: Wanted, found: Found): FieldChange[] {
    const secrets = secretsOf(kind, body);
    const fields = Object.keys(secrets);
    if (fields.length === 0 || isDigestOf(secrets, this.state.managedWith(found)?.digest ?? null)) return [];
    return fields.map((field) => ({ field, old: SECRET, new: SECRET }));
  }

  /** Only what an earlier apply of this name created, and nothing that others' resources are in. */
  private deletions(): Step[] {
    const gone = new Set(this.state.managed.flatMap((one) => this.goneOf(one)));
    if (gone.size > 0 && !this.options.isPruning) {
      this.notes.push(`${gone.size} resources of earlier applies are not in the file; --prune deletes them.`);
      return [];
    }
    return [...gone].flatMap((found) => {
      const { kind } = found;
      const name = this.fullNameOf(found);
      if (isOwnToken(found)) {
        this.notes.push(`token ${name} stays: this apply uses it. Delete it with another token.`);
        return [];
      }
      const foreign = this.state.all.find((one) => isIn(one, found) && !gone.has(one) && !this.leaves(one));
      if (foreign === undefined) return [{ action: 'delete' as const, kind, name, changes: [], found }];
      const other = `${nounOf(foreign.kind)} ${this.fullNameOf(foreign)}`;
      this.notes.push(`${nounOf(kind)} ${name} stays: it has the ${other}, which this apply does not own.`);
      return [];
    });
  }

  /** Moves to another team. */
  private leaves(found: Found): boolean {
    return this.steps.some((step) => step.found === found && step.changes.some(({ field }) => field === 'team_id'));
  }

  private goneOf({ kind, id, isCreated }: Managed): Found[] {
    const found = isCreated ? this.state.withId(kind, id) : undefined;
    return found === undefined || this.kept.has(found) ? [] : [found];
  }

  private fullNameOf({ name, project, kind }: Found): string {
    const owner = project === null || kind === 'alert' ? undefined : this.state.withId('project', project);
    return owner === undefined ? name : `${owner.name}/${name}`;
  }

  private refuse(wanted: Wanted, message: string, field: Path = []): void {
    this.problems.push(problemAt(wanted, message, field));
  }
}

/** The token that makes the changes: without it they would end half-way, and perhaps nobody could come in again. */
export const isOwnToken = ({ kind, shown }: Found): boolean => kind === 'token' && shown.is_current === true;

/** A known vendor needs no entry of its own to have keys. */
const isBareVendor = ({ kind, name, body }: Wanted, { vendors }: GatewayState): boolean =>
  kind === 'provider' && Object.keys(body).length === 1 && vendors.has(name);

function movedAlert(wanted: Wanted, found: Found, project: string | null | undefined): FieldChange[] {
  if (wanted.project === undefined || project === found.project) return [];
  return [{ field: 'project_id', old: found.project, new: wanted.project }];
}

/** Deleting the outer one would delete, or cut off, the inner one. */
function isIn(inner: Found, outer: Found): boolean {
  if (inner.kind === 'guardrails' || inner.kind === 'model') return false;
  if (outer.kind === 'team') return inner.kind === 'project' && inner.shown.team_id === outer.id;
  if (outer.kind === 'project') return inner.project === outer.id;
  return outer.kind === 'provider' && inner.kind === 'provider_key' && inner.at[0] === outer.at[0];
}

const inOrder = (steps: readonly Step[]): Step[] => KINDS.flatMap((kind) => steps.filter((step) => step.kind === kind));
