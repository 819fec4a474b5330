import { Button, Switch, Text, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { Fragment, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Timeline as TimelineAnswer, TimelineEntry } from '../generated/api';
import { dayAndTime, dayName, exactTime } from '../time';
import { Bubble } from './Bubble';
import { Step } from './Step';

interface TimelineProps {
  readonly timeline: TimelineAnswer;
  readonly leadName: string;
}

/** The conversation's story: messages, the steps between them, and what is planned. */
export function Timeline({ timeline, leadName }: TimelineProps) {
  const [showsSteps, setShowsSteps] = useLocalStorage({
    key: 'unsilent.steps',
    defaultValue: true,
  });
  const happened = timeline.entries.filter(
    (entry) => !entry.upcoming && (showsSteps || entry.message !== null || entry.tone !== 'quiet'),
  );
  const upcoming = timeline.entries.filter((entry) => entry.upcoming);
  const newest = happened.at(-1)?.id;
  const { box, isAway, toEnd } = useStickToEnd(newest);
  return (
    <>
      <div className="thread-options">
        <Text size="xs" c="dimmed">
          Times in {timeline.timeZone.replaceAll('_', ' ')}
        </Text>
        <Switch
          size="xs"
          label="Show every step"
          checked={showsSteps}
          onChange={(event) => {
            setShowsSteps(event.currentTarget.checked);
          }}
        />
      </div>
      <div
        className="timeline"
        ref={box}
        data-testid="thread"
        tabIndex={0}
        role="log"
        aria-label="Messages and steps"
        aria-live="off"
      >
        {timeline.olderOmitted && (
          <Text size="xs" c="dimmed" ta="center">
            Older messages are not shown.
          </Text>
        )}
        <Entries entries={happened} timeZone={timeline.timeZone} />
        {upcoming.length > 0 && <Upcoming entries={upcoming} timeZone={timeline.timeZone} />}
      </div>
      {isAway && (
        <Button size="xs" radius="xl" className="to-end" onClick={toEnd}>
          To the newest ↓
        </Button>
      )}
      <Announcer entries={timeline.entries} leadName={leadName} />
    </>
  );
}

interface EntriesProps {
  readonly entries: readonly TimelineEntry[];
  readonly timeZone: string;
}

function Entries({ entries, timeZone }: EntriesProps) {
  return entries.map((entry, index) => {
    const day = dayName(entry.at, timeZone);
    const before = entries[index - 1];
    const isNewDay = before === undefined || dayName(before.at, timeZone) !== day;
    return (
      <Fragment key={entry.id}>
        {isNewDay && <h3 className="day">{day}</h3>}
        {entry.message === null ? (
          <Step entry={entry} timeZone={timeZone} />
        ) : (
          <Bubble entry={entry} message={entry.message} timeZone={timeZone} />
        )}
      </Fragment>
    );
  });
}

function Upcoming({ entries, timeZone }: EntriesProps) {
  return (
    <section className="upcoming" aria-label="Coming up">
      <h3>Coming up</h3>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id} data-testid="timeline-entry" data-kind={entry.kind}>
            <time dateTime={entry.at} title={exactTime(entry.at, timeZone)}>
              {dayAndTime(entry.at, timeZone)}
            </time>{' '}
            {entry.text}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Who reads at the end stays there; who reads further up is not moved, and offered the way. */
function useStickToEnd(newest: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onScroll = (): void => {
      const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
      sticks.current = rest < 80;
      setAway(rest > 400);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      element.removeEventListener('scroll', onScroll);
    };
  }, []);
  const toEnd = (): void => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (sticks.current) toEnd();
  }, [newest]);
  return { box, isAway, toEnd };
}

/** Says new messages of the lead to whoever listens instead of looking. */
function Announcer({
  entries,
  leadName,
}: {
  readonly entries: readonly TimelineEntry[];
  readonly leadName: string;
}) {
  const newest = entries.findLast((entry) => entry.message?.direction === 'in');
  const first = useRef(newest?.id);
  const isNew = newest !== undefined && newest.id !== first.current;
  return (
    <VisuallyHidden aria-live="polite" role="status">
      {isNew ? `New message from ${leadName}: ${newest.text}` : ''}
    </VisuallyHidden>
  );
}
