import { Alert, Button, Group, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/client';
import { useCommands, type Command } from '../api/queries';
import type { ConversationDetail } from '../generated/api';

interface ActionsProps {
  readonly conversation: ConversationDetail;
  /** The newest message on this screen: giving back says that it was seen (T6). */
  readonly seenSeq: number;
}

/** What a person can do now, and what came of it where it was refused. */
export function Actions({ conversation, seenSeq }: ActionsProps) {
  const commands = useCommands(conversation.id);
  const [confirms, setConfirms] = useState(false);
  const run = (command: Command): void => {
    commands.start(command, { seenSeq });
  };
  const running = commands.isPending ? commands.variables.command : null;
  const { state, owner } = conversation;
  const isEnded = state === 'opted_out' || state === 'closed';
  const button = (command: Command) => ({
    size: 'xs' as const,
    loading: running === command,
    disabled: running !== null && running !== command,
    onClick: () => {
      run(command);
    },
  });
  return (
    <>
      <Group gap="xs" className="actions">
        {owner === 'automation' && (
          <Button {...button('claim')} data-testid="take-over">
            Take over
          </Button>
        )}
        {(owner === 'person' || state === 'paused') && (
          <Button {...button('release')} variant="light" data-testid="give-back">
            Give back
          </Button>
        )}
        {!isEnded && state !== 'booked' && (
          <Button {...button('book')} variant="default" data-testid="book">
            Mark booked
          </Button>
        )}
        {state !== 'opted_out' && (
          <Button
            {...button('opt-out')}
            variant="default"
            data-testid="opt-out"
            onClick={() => {
              setConfirms(true);
            }}
          >
            Opt out
          </Button>
        )}
      </Group>
      {commands.error !== null && (
        <Refusal error={commands.error} reload={() => void commands.reload()} />
      )}
      <OptOutDialog
        opened={confirms}
        name={conversation.leadName}
        close={() => {
          setConfirms(false);
        }}
        confirm={() => {
          setConfirms(false);
          run('opt-out');
        }}
      />
    </>
  );
}

function Refusal({ error, reload }: { readonly error: Error; readonly reload: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null;
  const color = problem?.status === 409 ? 'orange' : 'red';
  return (
    <Alert
      color={color}
      variant="light"
      role="alert"
      className="refusal"
      title={problem?.title ?? 'This was not done'}
    >
      <Text size="sm">{problem?.detail ?? error.message}</Text>
      <Button size="xs" variant="default" onClick={reload}>
        Reload the conversation
      </Button>
    </Alert>
  );
}

interface OptOutDialogProps {
  readonly opened: boolean;
  readonly name: string;
  readonly close: () => void;
  readonly confirm: () => void;
}

function OptOutDialog({ opened, name, close, confirm }: OptOutDialogProps) {
  return (
    <Modal opened={opened} onClose={close} title="No more messages to this lead?" centered>
      <Text size="sm">
        <bdi>{name}</bdi> gets no message any more, on any channel: not from automation and not from
        staff. What waits to be sent is cancelled. Only the lead can opt in again.
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          Keep messaging
        </Button>
        <Button color="red" onClick={confirm} data-testid="opt-out-confirm">
          Opt out
        </Button>
      </Group>
    </Modal>
  );
}
