export type Role = 'USER' | 'ADMIN';

/** The member on whose behalf something is done: what every use case is told about its caller. */
export interface Actor {
  readonly no: number;
  readonly email: string;
  readonly nickname: string;
  readonly profile: string;
  readonly role: Role;
}

/** The program at the other end: what links a call without a token to an earlier authenticated one. */
export interface Client {
  /** IP address; from X-Forwarded-For only behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string;
}
