import { Badge, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConversationDetail } from '../generated/api';
import { OwedChip, StateBadge } from '../inbox/ConversationRow';
import { BackIcon, ChannelIcon, PersonIcon } from '../shell/icons';
import { CHANNEL_NAMES, NEEDS_PERSON_COLOR } from '../words';

interface ThreadHeaderProps {
  readonly conversation: ConversationDetail;
  /** What can be done. */
  readonly children: ReactNode;
}

/** Who it is, how it stands, who holds it. */
export function ThreadHeader({ conversation, children }: ThreadHeaderProps) {
  const { channel, leadName, phone, state, owner, owedSince, openWorkItems, account } =
    conversation;
  const contact = phone === null || phone === leadName ? '' : ` · ${phone}`;
  return (
    <header className="thread-header">
      <div className="thread-who">
        <Link to="/" search={(previous) => previous} className="back" aria-label="Back to the list">
          <BackIcon />
        </Link>
        <ChannelIcon channel={channel} />
        <div className="thread-name">
          <Title order={2} size="h4">
            <bdi>{leadName}</bdi>
          </Title>
          <Text size="sm" c="dimmed">
            {CHANNEL_NAMES[channel]}
            {contact}
          </Text>
        </div>
      </div>
      <div className="chips">
        <StateBadge state={state} />
        <Badge
          size="sm"
          variant="outline"
          color="gray"
          {...(owner === 'person' ? { leftSection: <PersonIcon /> } : {})}
        >
          {owner === 'person' ? 'A person has it' : 'Automation has it'}
        </Badge>
        {owedSince !== null && <OwedChip since={owedSince} />}
        {openWorkItems > 0 && (
          <Badge size="sm" variant="filled" color={NEEDS_PERSON_COLOR}>
            Needs a person
          </Badge>
        )}
        {account.pausedReason !== null && (
          <Badge size="sm" variant="filled" color="red">
            Account refused by the provider
          </Badge>
        )}
      </div>
      {children}
    </header>
  );
}
