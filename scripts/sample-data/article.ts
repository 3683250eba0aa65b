import type { MemberKey } from './members.js';

/** What the category numbers of the sample articles stand for. */
export const category = { talk: 1, adopted: 2, question: 3, knowledge: 4 } as const;

/** Who replied to a comment, and what. */
export type SampleReply = [by: MemberKey, text: string];

export interface SampleComment {
  by: MemberKey;
  text: string;
  /** How many members gave it a heart. */
  hearts?: number;
  replies?: SampleReply[];
}

export interface SampleArticle {
  by: MemberKey;
  category: number;
  /** When it was published, in hours before the data is made. */
  hoursAgo: number;
  title: string;
  text: string;
  /** Name of a picture in http/demo/pets, without its ending. */
  picture?: string;
  views: number;
  /** How many members gave it a heart; at most one less than there are members. */
  hearts: number;
  comments: SampleComment[];
}
