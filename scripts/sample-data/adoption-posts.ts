import type { MemberKey } from './members.js';

/** The kinds that the app filters its map by: dogs, cats, others. */
type Kind = '강아지' | '고양이' | '기타';

/** One animal of the sample data. */
export interface SamplePost {
  by: MemberKey;
  title: string;
  name: string;
  age: string;
  kind: Kind;
  latitude: number;
  longitude: number;
  picture: string;
}

type Row = [MemberKey, string, string, string, number, number, string];

/** Around Seoul; numbered 1, 2, 3 … in this order, which the chats refer to. */
const rows: Row[] = [
  ['hana', '산책을 사랑하는 보리의 가족을 찾아요', '보리', '2살', 37.5563, 126.9236, 'dog-1'],
  ['hana', '수줍은 치즈냥 나비, 조용한 집이면 좋겠어요', '나비', '1살', 37.5512, 126.9882, 'cat-1'],
  ['mapo', '구조된 강아지 두부, 임시보호 또는 입양', '두부', '3개월', 37.5663, 126.9014, 'dog-2'],
  ['emma', 'Gentle senior beagle looking for a sofa', 'Biscuit', '9 years', 37.5347, 126.9946, 'dog-3'],
  ['minji', '토끼 모찌, 넓은 울타리와 함께 보내드려요', '모찌', '8개월', 37.5172, 127.0473, 'rabbit-1'],
  [
    'lucas',
    'Bonded brothers, please keep them together',
    'Tofu & Miso',
    '10 months',
    37.5443,
    127.0557,
    'cat-2',
  ],
  ['seoyeon', '애교 많은 러시안블루 하늘이', '하늘이', '3살', 37.4979, 127.0276, 'cat-3'],
  ['mapo', '진도 믹스 바람이, 마당 있는 집 환영', '바람이', '1살 6개월', 37.5796, 126.9769, 'dog-4'],
  ['hana', '한쪽 눈으로도 세상이 다 예쁜 별이', '별이', '4살', 37.5894, 127.0167, 'cat-4'],
  ['noah', 'Hedgehog with his whole apartment', 'Pickle', '1 year', 37.5492, 126.9135, 'hedgehog-1'],
  ['jiho', '아이가 알레르기라 보내는 포메 구름이', '구름이', '2살', 37.5045, 127.0489, 'dog-5'],
  ['hana', '형제 햄스터 콩, 팥 (따로 입양)', '콩 · 팥', '4개월', 37.6543, 127.0568, 'hamster-1'],
  ['grace', 'Retired therapy dog, loves children', 'Honey', '7 years', 37.5219, 126.9245, 'dog-6'],
  ['mapo', '상자에서 발견된 삼색이 자매 중 첫째', '단추', '2개월', 37.5616, 126.9089, 'cat-5'],
  ['mapo', '상자에서 발견된 삼색이 자매 중 둘째', '리본', '2개월', 37.5619, 126.9093, 'cat-1'],
  ['yuna', '노래하는 왕관앵무 레몬', '레몬', '3살', 37.4784, 126.9516, 'parrot-1'],
  ['hyunwoo', '유학으로 입양 보내는 푸들 초코', '초코', '5살', 37.5407, 127.0697, 'dog-2'],
  ['olivia', 'Shy rescue, needs a patient person', 'Willow', '2 years', 37.5326, 127.0246, 'dog-1'],
  ['hana', '사람 무릎이 제일 좋은 고등어 냥이', '고등어', '6살', 37.6027, 127.0413, 'cat-6'],
  ['sora', '육지거북 돌돌이, 사육장 포함', '돌돌이', '11살', 37.5145, 127.1066, 'turtle-1'],
  ['hana', '다리 수술 마치고 회복 중인 웰시코기', '감자', '3살', 37.6176, 126.9227, 'dog-4'],
  ['emma', 'Office cat whose office is closing', 'Memo', '5 years', 37.5658, 126.9826, 'cat-3'],
  ['mapo', '한강에서 구조한 시바 믹스 호두', '호두', '10개월', 37.5285, 126.9327, 'dog-5'],
  [
    'lucas',
    'Two guinea pigs, cage and hay included',
    'Salt & Pepper',
    '1 year',
    37.5561,
    127.0013,
    'hamster-1',
  ],
  ['seoyeon', '귀가 늘어진 롭이어 솜이', '솜이', '1살', 37.4833, 127.0322, 'rabbit-2'],
  ['hana', '열두 살 할머니 강아지 순이의 마지막 집', '순이', '12살', 37.5838, 127.0503, 'dog-3'],
  ['noah', 'Kitten found behind the bakery', 'Croissant', '6 weeks', 37.5548, 126.9312, 'cat-6'],
  ['dohyun', '병원에서 치료를 마친 길냥이 까망', '까망', '2살', 37.5009, 126.8676, 'cat-2'],
  ['mapo', '공놀이 천재 보더콜리 레오', '레오', '1살', 37.5705, 126.8777, 'dog-6'],
  ['grace', 'White cat, deaf, talks a lot', 'Luna', '4 years', 37.5117, 127.0592, 'cat-4'],
];

/** Kinds by what a picture shows, the first part of its name. */
const KINDS: Record<string, Kind> = { dog: '강아지', cat: '고양이' };

export const samplePosts: SamplePost[] = rows.map(([by, title, name, age, latitude, longitude, picture]) => ({
  by,
  title,
  name,
  age,
  kind: KINDS[picture.split('-')[0] as string] ?? '기타',
  latitude,
  longitude,
  picture: `/demo/pets/${picture}.svg`,
}));
