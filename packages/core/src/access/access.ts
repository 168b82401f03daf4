import { type Permission, permissionsOf, type Reach, ROLE_TABLE, type Role } from './roles';

/** A person's role in one team. */
export interface Grant {
  readonly teamId: string;
  readonly organizationId: string;
  readonly role: Role;
  /** null: by role. */
  readonly canReadBodies: boolean | null;
}

/** Where a project or team stands. A project without a team has neither. */
export interface TeamPlace {
  readonly teamId: string | null;
  readonly organizationId: string | null;
}

type Permissions = ReadonlySet<Permission>;

/** All that somebody may do, by team, by organization, and everywhere. */
export class Access {
  private readonly places = new Map<string, Set<Permission>>();

  private constructor(private readonly everywhere: Set<Permission>) {}

  static everywhere(permissions: Iterable<Permission>): Access {
    return new Access(new Set(permissions));
  }

  static of(grants: readonly Grant[]): Access {
    const access = new Access(new Set());
    for (const grant of grants) access.add(grant);
    return access;
  }

  /** In everything there is. */
  mayEverywhere(permission: Permission): boolean {
    return this.everywhere.has(permission);
  }

  /** In at least one place. */
  maySomewhere(permission: Permission): boolean {
    return this.mayEverywhere(permission) || [...this.places.values()].some((own) => own.has(permission));
  }

  mayAt({ teamId, organizationId }: TeamPlace, permission: Permission): boolean {
    const has = (id: string | null) => id !== null && this.places.get(id)?.has(permission) === true;
    return this.mayEverywhere(permission) || has(teamId) || has(organizationId);
  }

  mayInOrganization(organizationId: string, permission: Permission): boolean {
    return this.mayAt({ teamId: null, organizationId }, permission);
  }

  /** Ids of the teams and organizations in which somebody may do it. */
  placesOf(permission: Permission): readonly string[] {
    return [...this.places].filter(([, own]) => own.has(permission)).map(([id]) => id);
  }

  private add({ teamId, organizationId, role, canReadBodies }: Grant): void {
    const target: Readonly<Record<Reach, () => Set<Permission>>> = {
      team: () => this.at(teamId),
      organization: () => this.at(organizationId),
      system: () => this.everywhere,
    };
    addAll(target[ROLE_TABLE[role].reach](), permissionsOf(role, canReadBodies));
  }

  private at(id: string): Set<Permission> {
    const own = this.places.get(id) ?? new Set<Permission>();
    this.places.set(id, own);
    return own;
  }
}

function addAll(to: Set<Permission>, permissions: Permissions): void {
  for (const permission of permissions) to.add(permission);
}
