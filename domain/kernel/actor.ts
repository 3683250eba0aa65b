export type Role = 'USER' | 'ADMIN';

/** The member on whose behalf a use case runs. */
export interface Actor {
  readonly no: number;
  readonly email: string;
  readonly nickname: string;
  readonly profile: string;
  readonly role: Role;
}
