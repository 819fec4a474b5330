import type { TimelineEntry } from '../generated/api';
import { clockTime, exactTime } from '../time';

const SIGNS: Readonly<Record<TimelineEntry['tone'], string>> = {
  quiet: '·',
  info: '•',
  good: '✓',
  warning: '!',
  bad: '✕',
};

/** What happened between messages, in a sentence; with the wording that did not leave. */
export function Step({
  entry,
  timeZone,
}: {
  readonly entry: TimelineEntry;
  readonly timeZone: string;
}) {
  return (
    <div
      className="step"
      data-testid="timeline-entry"
      data-kind={entry.kind}
      data-tone={entry.tone}
    >
      <span className="step-sign" aria-hidden>
        {SIGNS[entry.tone]}
      </span>
      <div className="step-body">
        <p>
          {entry.text}{' '}
          <time dateTime={entry.at} title={exactTime(entry.at, timeZone)}>
            {clockTime(entry.at, timeZone)}
          </time>
        </p>
        {entry.quote !== null && <blockquote dir="auto">{entry.quote}</blockquote>}
      </div>
    </div>
  );
}
