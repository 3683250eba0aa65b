import type { MemberKey } from './members.js';

/** One conversation of the sample data, about a post of adoption-posts.ts. */
export interface SampleChat {
  /** Number of the adoption post, from 1. */
  sale: number;
  /** Who asks; the other party is the post's author. */
  asks: MemberKey;
  hoursAgo: number;
  /** Seen by both at once: the last `unread` messages excepted, which their recipient has yet to open. */
  unread: number;
  /** The first line is by who asks; a line that starts with `<` is by the post's author. */
  lines: string[];
}

export const sampleChats: SampleChat[] = [
  {
    sale: 1,
    asks: 'minji',
    hoursAgo: 50,
    unread: 2,
    lines: [
      '안녕하세요, 보리 입양 글 보고 연락드려요. 아직 가족을 찾고 있나요?',
      '<네, 안녕하세요! 아직 찾고 있어요. 강아지를 키워 보신 적이 있으세요?',
      '어릴 때 집에서 두 마리를 키웠어요. 지금은 재택근무라 하루 종일 같이 있을 수 있어요.',
      '<와, 보리한테 딱이네요. 하루에 두 번은 꼭 산책을 나가야 하는 아이예요 :)',
      '집 앞이 바로 한강공원이라 산책은 자신 있어요!',
      '<이번 주 토요일 오후 2시에 쉼터에 오실 수 있으세요?',
      '<오시는 길은 지도로 보내드릴게요. 2번 출구에서 5분이에요.',
    ],
  },
  {
    sale: 6,
    asks: 'minji',
    hoursAgo: 30,
    unread: 0,
    lines: [
      'Hi! I saw Tofu and Miso. Are they fine with a rabbit in the flat?',
      '<Hi Minji! They lived with a rabbit at the foster home, very polite with her.',
      'That is lovely to hear. Could I come and meet them on Sunday?',
      '<Sunday works. Seongsu station, exit 3, and I will pick you up.',
      'Perfect, see you there!',
    ],
  },
  {
    sale: 5,
    asks: 'olivia',
    hoursAgo: 9,
    unread: 1,
    lines: [
      '안녕하세요! 모찌 아직 있나요? I can also write in English if that is easier.',
      '<네, 있어요! Both are fine. Have you kept a rabbit before?',
      'Yes, for six years. He had the whole living room to himself.',
      '<모찌가 정말 좋아하겠네요 :) 사진 더 보내드릴게요.',
      'Thank you! What does she like to eat besides hay?',
    ],
  },
  {
    sale: 5,
    asks: 'yuna',
    hoursAgo: 4,
    unread: 1,
    lines: [
      '모찌 중성화 수술은 했나요?',
      '<네, 지난달에 했고 건강검진도 마쳤어요.',
      '수첩 사진도 볼 수 있을까요?',
    ],
  },
  {
    sale: 3,
    asks: 'jiho',
    hoursAgo: 26,
    unread: 0,
    lines: [
      '두부 임시보호 기간은 얼마나 되나요?',
      '<최소 두 달이에요. 사료와 병원비는 저희가 부담합니다.',
      '아이들과 의논해 보고 내일 말씀드릴게요.',
      '<네, 천천히 생각해 주세요. 감사합니다!',
    ],
  },
  {
    sale: 13,
    asks: 'noah',
    hoursAgo: 12,
    unread: 1,
    lines: [
      'Honey looks wonderful. How is she with stairs?',
      '<Slow but proud. She manages one floor, not three.',
      'We have a lift, so that is settled then. When could we visit?',
    ],
  },
];
