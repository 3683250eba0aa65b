import { textOf } from './documents.js';

/** Programs that begin the commands of indented blocks. */
const COMMAND =
  /^(?:[A-Z_]+=\S+ +)*(?:npm|npx|node|curl|git|docker|mongodump|mongorestore|sudo|systemctl|for|cp|sed|openssl|export|echo|cat) /;

/** The blocks of shell of a page: fenced as `sh`, or indented and beginning with a command. */
export function shellBlocks(path: string): string[] {
  const text = textOf(path);
  const fenced = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const indented = [...text.matchAll(/(?<=\n\n)(?: {4}.*\n)+(?=\n)/g)]
    .map(([block]) => block.replaceAll(/^ {4}/gm, ''))
    .filter((block) => COMMAND.test(block));
  return [...fenced, ...indented];
}
