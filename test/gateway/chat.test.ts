import { call, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { connect } from '../support/sockets.js';
import { itChatsOverSockets } from './chat-behaviour.js';

describe('chat over sockets', () => {
  itChatsOverSockets({ member, openRoom, call, connect: (who) => connect(who) });
});
