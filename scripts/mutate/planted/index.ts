import { ofCommunity } from './of-community.js';
import { ofMessages } from './of-messages.js';
import { ofNotifications } from './of-notifications.js';
import { ofRooms } from './of-rooms.js';
import type { PlantedFault } from './planted-fault.js';

/** All planted faults, by name. */
export const plantedFaults: Record<string, PlantedFault> = {
  ...ofMessages,
  ...ofRooms,
  ...ofCommunity,
  ...ofNotifications,
};
