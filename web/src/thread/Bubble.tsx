import type { TimelineEntry } from '../generated/api';
import { clockTime, exactTime } from '../time';
import { AUTHORS, DELIVERIES } from '../words';

interface BubbleProps {
  readonly entry: TimelineEntry;
  readonly message: NonNullable<TimelineEntry['message']>;
  readonly timeZone: string;
}

/** One message: the lead's on the left, the business's on the right. */
export function Bubble({ entry, message, timeZone }: BubbleProps) {
  const { direction, author, delivery, edited, deleted } = message;
  return (
    <div
      className="bubble"
      data-testid={`bubble-${direction}`}
      data-direction={direction}
      data-author={author}
      data-faded={deleted || undefined}
    >
      <p className="bubble-text" dir="auto">
        {entry.text}
      </p>
      <p className="bubble-foot">
        {author !== 'lead' && <span>{AUTHORS[author]}</span>}
        <time dateTime={entry.at} title={exactTime(entry.at, timeZone)}>
          {clockTime(entry.at, timeZone)}
        </time>
        {edited && !deleted && <span>Edited</span>}
        {delivery !== null && <span data-delivery={delivery}>{DELIVERIES[delivery]}</span>}
      </p>
    </div>
  );
}
