import { Alert, Button, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { ApiError, call } from '../api/client';
import { signIn } from '../session';
import { Logo } from './icons';

/** Asks for a staff token and tries it before it is kept. */
export function SignIn() {
  const [token, setToken] = useState('');
  const [mistake, setMistake] = useState<string | null>(null);
  const [isTrying, setTrying] = useState(false);

  const attempt = async (): Promise<void> => {
    setTrying(true);
    setMistake(null);
    try {
      await call('GET /api/conversations', { query: { limit: 1 }, token: token.trim() });
      signIn(token.trim());
    } catch (error) {
      setMistake(explain(error));
      setTrying(false);
    }
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    void attempt();
  };

  return (
    <main className="sign-in">
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Logo />
          <Title order={1} size="h2">
            Sign in
          </Title>
          <Text c="dimmed">
            Paste your staff token. After <code>npm start</code> it stands in the terminal and in{' '}
            <code>.unsilent/demo-token</code>.
          </Text>
          <TextInput
            label="Staff token"
            data-testid="sign-in-token"
            value={token}
            onChange={(event) => {
              setToken(event.currentTarget.value);
            }}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            required
            withAsterisk={false}
            data-autofocus
          />
          {mistake !== null && (
            <Alert color="red" variant="light" role="alert">
              {mistake}
            </Alert>
          )}
          <Button
            type="submit"
            data-testid="sign-in"
            loading={isTrying}
            disabled={token.trim() === ''}
          >
            Sign in
          </Button>
        </Stack>
      </form>
    </main>
  );
}

function explain(error: unknown): string {
  if (error instanceof ApiError && error.problem.status === 401) {
    return 'Nobody has this token. Check that you copied all of it.';
  }
  return error instanceof Error ? error.message : 'Signing in failed.';
}
