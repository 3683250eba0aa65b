/**
 * A delivered message as text of Socket.IO's protocol, with the fields and the size that the service's
 * have: what the bare servers send, so that all send the same bytes.
 */
export function messageFrame(room: number, content: string, seq: number): string {
  return (
    `42["message",{"id":"019a0000-0000-7000-8000-${String(seq).padStart(12, '0')}","chatNo":${room},` +
    `"contentType":"text","content":"${content}","senderName":"load member","senderNo":1000,"saleNo":1,` +
    `"sendTime":1700000000000,"readCount":0,"senderEmail":"load-1000@load.example.org","seq":${seq}}]`
  );
}

/** The same as an object. */
export function messagePayload(room: number, content: string, seq: number): object {
  return {
    id: `019a0000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    chatNo: room,
    contentType: 'text',
    content,
    senderName: 'load member',
    senderNo: 1000,
    saleNo: 1,
    sendTime: 1_700_000_000_000,
    readCount: 0,
    senderEmail: 'load-1000@load.example.org',
    seq,
  };
}
