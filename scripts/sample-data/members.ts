import type { Role } from '../../domain/kernel/actor.js';

/** A member of the sample data; `key` is how the other sample records name them. */
export interface SampleMember {
  email: string;
  nickname: string;
  profile: string;
  role?: Role;
}

const people = {
  minji: { nickname: '민지네 보리', picture: 1 },
  jiho: { nickname: '지호아빠', picture: 2 },
  seoyeon: { nickname: '서연과 콩이', picture: 3 },
  hyunwoo: { nickname: '현우', picture: 4 },
  sora: { nickname: '소라언니', picture: 5 },
  yuna: { nickname: '유나', picture: 6 },
  dohyun: { nickname: '도현쌤 (수의사)', picture: 7 },
  hana: { nickname: '하나쉼터', picture: 8 },
  mapo: { nickname: '마포구조대', picture: 4 },
  emma: { nickname: 'Emma', picture: 3 },
  lucas: { nickname: 'Lucas K.', picture: 2 },
  olivia: { nickname: 'Olivia', picture: 6 },
  noah: { nickname: 'Noah in Mapo', picture: 7 },
  grace: { nickname: 'Grace Lee', picture: 5 },
} as const;

export type MemberKey = keyof typeof people;

export const memberKeys = Object.keys(people) as MemberKey[];

/** The sample members; example.org belongs to nobody (RFC 2606). */
export function sampleMember(key: MemberKey): SampleMember {
  const { nickname, picture } = people[key];
  return { email: `${key}@example.org`, nickname, profile: `/demo/members/member-${picture}.svg` };
}

/** The member that the start-up message and the demo page speak for: has articles, chats, notifications. */
export const SAMPLE_MEMBER: SampleMember = sampleMember('minji');
