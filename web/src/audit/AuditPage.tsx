import { Alert, Button, Skeleton, Text, Title, VisuallyHidden } from '@mantine/core';
import { useEffect } from 'react';
import type { AuditReport } from '../generated/api';
import { ageWords, learnServerClock, useNowMs } from '../time';
import { CheckTable } from './CheckTable';
import './audit.css';
import { useAudit } from './use-audit';

/** Older than this the auditor is behind: it looks once a minute. */
const STALE_MS = 300_000;

/** What must always hold, whether it does, and when that was last looked at. */
export function AuditPage() {
  const audit = useAudit();
  const report = audit.data;
  useEffect(() => {
    if (report !== undefined) learnServerClock(report.now);
  }, [report]);
  useEffect(() => {
    document.title = 'Audit · Unsilent';
  }, []);
  return (
    <main className="audit">
      <Title order={1} size="h3">
        Audit
      </Title>
      <Text size="sm" c="dimmed" maw="46rem">
        Facts that must hold at every moment, checked in the database itself: every minute over what
        was touched lately, every six hours over everything.
      </Text>
      {audit.isError && <LoadFailure again={() => void audit.refetch()} />}
      {audit.isPending && <Loading />}
      {report !== undefined && report.items.length === 0 && <Nothing />}
      {report !== undefined && report.items.length > 0 && (
        <>
          <Summary items={report.items} />
          <CheckTable items={report.items} />
        </>
      )}
    </main>
  );
}

function Summary({ items }: Pick<AuditReport, 'items'>) {
  const nowMs = useNowMs();
  const broken = items.filter(({ violations }) => violations > 0);
  const oldestMs = Math.min(...items.map(({ checkedAt }) => Date.parse(checkedAt)));
  const age = ageWords(nowMs - oldestMs);
  return (
    <div data-testid="audit-summary" role="status" className="audit-summary">
      {broken.length === 0 ? (
        <Alert color="green" variant="light" title={`All ${items.length} checks hold`}>
          Checked {age} ago.
        </Alert>
      ) : (
        <Alert
          color="red"
          variant="light"
          title={`Broken: ${broken.length} of ${items.length} checks`}
        >
          Checked {age} ago. Whoever runs the system finds the rows in the log too, with the level
          fatal.
        </Alert>
      )}
      {nowMs - oldestMs > STALE_MS && (
        <Alert color="orange" variant="light" title="The audit is behind">
          At least one check is {age} old, so what you see may have changed.
        </Alert>
      )}
    </div>
  );
}

function Loading() {
  return (
    <div className="skeletons">
      <VisuallyHidden role="status">Loading the audit</VisuallyHidden>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={20} width={index % 2 === 0 ? '85%' : '70%'} />
      ))}
    </div>
  );
}

function LoadFailure({ again }: { readonly again: () => void }) {
  return (
    <Alert color="red" variant="light" role="alert" title="The audit cannot be read">
      <Text size="sm">The checks go on; only this view is behind.</Text>
      <Button size="xs" variant="default" mt="xs" onClick={again}>
        Try again
      </Button>
    </Alert>
  );
}

function Nothing() {
  return (
    <div className="empty">
      <Text fw={600}>Nothing was checked yet</Text>
      <Text size="sm" c="dimmed">
        The first audit comes within a minute of the start.
      </Text>
    </div>
  );
}
