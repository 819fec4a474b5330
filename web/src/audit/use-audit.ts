import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client';

/** The auditor looks once a minute; this is soon enough to see what it says. */
const REFRESH_MS = 15_000;

/** What the auditor last said, kept up to date while the page is open. */
export function useAudit() {
  return useQuery({
    queryKey: ['audit'],
    queryFn: ({ signal }) => call('GET /api/audit', { signal }),
    refetchInterval: REFRESH_MS,
  });
}
