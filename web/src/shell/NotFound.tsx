import { Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** An address that the console does not know. */
export function NotFound() {
  return (
    <main className="empty">
      <Title order={1} size="h3">
        There is no such page
      </Title>
      <Text c="dimmed">The address may be mistyped or from a newer version.</Text>
      <Link to="/" className="link-button">
        All conversations
      </Link>
    </main>
  );
}
