export type Role = 'USER' | 'ADMIN';

/** A member as others see them. */
export interface Person {
  readonly no: number;
  readonly email: string;
  readonly nickname: string;
  readonly profile: string;
}

/** The member on whose behalf a use case runs, with the role that the token in hand gives. */
export interface Actor extends Person {
  readonly role: Role;
}
