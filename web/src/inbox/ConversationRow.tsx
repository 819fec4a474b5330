import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Conversation } from '../generated/api';
import { ChannelIcon, PersonIcon } from '../shell/icons';
import { ageWords, shortAge, useNowMs } from '../time';
import { AUTHORS, NEEDS_PERSON_COLOR, STATES } from '../words';

/** One conversation of the list. */
export function ConversationRow({ conversation }: { readonly conversation: Conversation }) {
  const { id, channel, leadName, lastActivityAt, preview } = conversation;
  return (
    <li>
      <Link
        to="/conversations/$conversationId"
        params={{ conversationId: id }}
        search={(previous) => previous}
        className="row"
        activeProps={{ 'aria-current': 'true' }}
        data-testid={`conversation-${id}`}
      >
        <ChannelIcon channel={channel} />
        <span className="row-body">
          <span className="row-head">
            <span className="row-name">
              <bdi>{leadName}</bdi>
            </span>
            <Age at={lastActivityAt} />
          </span>
          <span className="row-preview">
            {preview !== null && (
              <>
                {preview.author !== 'lead' && <span>{AUTHORS[preview.author]}: </span>}
                <bdi>{preview.text}</bdi>
              </>
            )}
          </span>
          <Chips conversation={conversation} />
        </span>
      </Link>
    </li>
  );
}

function Age({ at }: { readonly at: string }) {
  const nowMs = useNowMs();
  return (
    <time className="row-age" dateTime={at} title={new Date(at).toLocaleString('en-US')}>
      {shortAge(nowMs - Date.parse(at))}
    </time>
  );
}

function Chips({ conversation }: { readonly conversation: Conversation }) {
  const { state, owner, owedSince, openWorkItems } = conversation;
  return (
    <span className="chips">
      <StateBadge state={state} />
      {owedSince !== null && <OwedChip since={owedSince} />}
      {openWorkItems > 0 && (
        <Badge size="sm" variant="filled" color={NEEDS_PERSON_COLOR}>
          Needs a person
        </Badge>
      )}
      {owner === 'person' && (
        <Badge size="sm" variant="outline" color="gray" leftSection={<PersonIcon />}>
          Person
        </Badge>
      )}
    </span>
  );
}

/** The state in a word. */
export function StateBadge({ state }: Pick<Conversation, 'state'>) {
  const { label, color } = STATES[state];
  return (
    <Badge size="sm" variant="light" color={color}>
      {label}
    </Badge>
  );
}

/** From here on an owed answer is late. */
const LATE_MS = 60_000;

/** How long the lead has been waiting, counting. */
export function OwedChip({ since }: { readonly since: string }) {
  const waitedMs = useNowMs() - Date.parse(since);
  return (
    <Badge size="sm" variant="filled" color={waitedMs < LATE_MS ? 'yellow' : 'red'}>
      {`Owed ${ageWords(waitedMs)}`}
    </Badge>
  );
}
