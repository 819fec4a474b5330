import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { listenForHints, type LiveState } from '../api/live';
import { refresh, refreshAll } from '../api/queries';
import type { NoticeHint } from '../generated/api';
import { signOut } from '../session';
import { LiveContext } from './live-context';
import { NoticeToast } from './NoticeToast';

/** Hints that come close together cause one reading. */
const GATHER_MS = 150;

interface LiveProviderProps {
  readonly token: string;
  readonly children: ReactNode;
}

/** Keeps what is on the screen up to date: each hint fetches again what it concerns. */
export function LiveProvider({ token, children }: LiveProviderProps) {
  const [state, setState] = useState<LiveState>('connecting');
  const [notice, setNotice] = useState<NoticeHint | null>(null);
  const closeNotice = useCallback(() => {
    setNotice(null);
  }, []);
  const client = useQueryClient();
  useEffect(() => {
    const ending = new AbortController();
    const gathered = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      timer = undefined;
      for (const id of gathered) void refresh(client, id);
      gathered.clear();
    };
    void listenForHints(
      token,
      {
        onOpen: () => void refreshAll(client),
        onReset: () => void refreshAll(client),
        onHint: ({ id }) => {
          gathered.add(id);
          timer ??= setTimeout(flush, GATHER_MS);
        },
        onNotice: (told) => {
          setNotice(told);
          void refreshAll(client);
        },
        onState: setState,
        onUnauthenticated: signOut,
      },
      ending.signal,
    );
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [client, token]);
  // What one person saw must not stay in memory for the next.
  useEffect(() => () => client.clear(), [client, token]);
  return (
    <LiveContext value={state}>
      {children}
      <NoticeToast notice={notice} onClose={closeNotice} />
    </LiveContext>
  );
}
