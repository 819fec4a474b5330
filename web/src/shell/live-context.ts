import { createContext, useContext } from 'react';
import type { LiveState } from '../api/live';

export const LiveContext = createContext<LiveState>('connecting');

/** Whether changes arrive by themselves at the moment. */
export function useLiveState(): LiveState {
  return useContext(LiveContext);
}
