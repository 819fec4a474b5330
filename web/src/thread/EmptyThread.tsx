import { Text } from '@mantine/core';

/** Beside the list, while no conversation is chosen. */
export function EmptyThread() {
  return (
    <div className="empty centred">
      <Text fw={600}>Choose a conversation</Text>
      <Text size="sm" c="dimmed">
        You see what the lead wrote, what was decided, sent and not sent, and why.
      </Text>
    </div>
  );
}
