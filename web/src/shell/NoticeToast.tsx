import { CloseButton, Paper, Text } from '@mantine/core';
import { useEffect } from 'react';
import type { NoticeHint } from '../generated/api';

/** Long enough to be read in passing; what waits stays in the list. */
const SHOWN_MS = 12_000;

interface NoticeToastProps {
  readonly notice: NoticeHint | null;
  /** Has to be the same function at every rendering: a new one starts the time again. */
  readonly onClose: () => void;
}

/**
 * Says in the corner that things wait for a person. The region is always there, so that a screen
 * reader hears what comes into it.
 */
export function NoticeToast({ notice, onClose }: NoticeToastProps) {
  useEffect(() => {
    if (notice === null) return undefined;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [notice, onClose]);
  return (
    <div className="notice" role="status" data-testid="notice">
      {notice !== null && (
        <Paper withBorder shadow="md" radius="md" className="notice-card">
          <Text size="sm">
            {notice.items === 1
              ? 'One thing waits for a person.'
              : `${notice.items} things wait for a person.`}
          </Text>
          <CloseButton size="sm" aria-label="Dismiss" onClick={onClose} />
        </Paper>
      )}
    </div>
  );
}
