export type Role = 'USER' | 'ADMIN';

/** The member on whose behalf something is done: what every use case is told about its caller. */
export interface Actor {
  readonly no: number;
  readonly email: string;
  readonly nickname: string;
  readonly profile: string;
  readonly role: Role;
}
